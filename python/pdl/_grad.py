"""Gradients: of values in a graph, and of Python functions."""

from __future__ import annotations

import copy
import inspect
from functools import lru_cache
from typing import Any, Callable, Sequence

from pdl import _call, _pdl
from pdl._arrays import to_array
from pdl._cache import Cache
from pdl._check import integer_of
from pdl._graph import Graph, Rows, Value, rows_of
from pdl._network import with_values
from pdl._ragged import Lengths, Ragged, Sparse, bytes_of


def grad(
    of: Any, wrt: Any = None, cotangent: Value | None = None, *, argnums: int | Sequence[int] = 0
) -> Any:
    """Of a value of a graph: its gradient with respect to a value, or to each of a list. Of a function
    of arrays that gives a scalar: the function that gives its gradient with respect to its argument
    ``argnums``, or a tuple of several::

        slope = pdl.grad(lambda x: pdl.ops.sum(x ** 3))
        slope(numpy.array([1.0, 2.0]))
        pdl.grad(lambda x: pdl.ops.sum(slope(x)))    # the second derivative

    Each call runs the function anew, so what it takes from around it counts as it is then: a
    minibatch, a rate, whatever an ``if`` asks. Calls that write the same network find it compiled.
    Arrays from around the function are inputs of that network, with the dtypes that they have, so
    another minibatch of the same sizes compiles nothing; another Python number does.
    """
    if isinstance(of, Value):
        return of.graph.grad(of, wrt, cotangent)
    function = value_and_grad(of, argnums=argnums)
    return lambda *args: function(*args)[1]


def value_and_grad(
    of: Callable[..., Value], *, argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """The function that gives the value of ``of``, and its gradient; see ``pdl.grad``."""
    made: Cache[_pdl.NetworkCore] = Cache(most=64)

    places, is_one = _places(argnums), not isinstance(argnums, (list, tuple))
    def function(*args: Any) -> tuple[Any, Any]:
        for place in places:
            if not -len(args) <= place < len(args):
                raise TypeError(f"argnums has {place}, and there are {len(args)} arguments")
        if len({place % len(args) for place in places}) < len(places):
            raise ValueError(f"argnums names an argument twice: {argnums}")
        if any(isinstance(one, Value) for one in args):  # a gradient of a gradient
            value, listed = _value_and_grad_in_graph(of, args, places)
            return value, listed[0] if is_one else tuple(listed)
        trace = _trace(of, args, places)
        text = trace.text()
        seed = _call.current_seed()
        if trace.files:  # the networks in it have other values each time, may be
            results = _network(text, seed, trace)(trace.fed)
        else:
            network = made.get((text, seed), lambda: _network(text, seed, trace))
            results = network(trace.fed)
            num_bytes = sum(map(bytes_of, [*trace.fed.values(), *results.values()]))
            made.keep((text, seed), network, num_bytes)
        value, *gradients = results.values()
        return value, gradients[0] if is_one else tuple(gradients)

    return function


def _places(argnums: Any) -> list[int]:
    """The arguments that it names."""
    if not isinstance(argnums, (list, tuple)):
        return [integer_of(argnums, "argnums")]
    if not argnums:
        raise ValueError("argnums names no argument")
    places = [integer_of(one, "argnums") for one in argnums]
    if len(set(places)) < len(places):
        raise ValueError(f"argnums names an argument twice: {argnums}")
    return places


class Trace(Graph):
    """What a function does to arrays. Those from around it are inputs, as its arguments are."""

    def __init__(self) -> None:
        super().__init__()
        # What the inputs are fed with.
        self.fed: dict[str, Any] = {}
        self._lengths = Lengths()

    def feed(self, given: Any, base: str) -> Value:
        """An input for an array."""
        name = self.new_name(base)
        ragged = isinstance(given, (Ragged, Sparse))
        type = given.type_with(self._lengths.symbol) if ragged else given.type
        value = self.input(name, type)
        self.fed[name] = given
        return value

    @property
    def capture(self) -> Callable[[Any, str], str]:
        return lambda array, base: self.feed(_snapshot(array), base).name

    def _compile(self, text: str) -> Rows:
        return _rows_of(text, tuple(self.files.items()))


# A function that is traced anew mostly says the same.
_rows_of = lru_cache(maxsize=1024)(rows_of)


def _network(text: str, seed: int, trace: Trace) -> _pdl.NetworkCore:
    program = _pdl.compile(text, "<gradient>", files=trace.files)
    weights = with_values(program, trace.part_values(), None)
    return _pdl.NetworkCore(program, seed=seed, at_once=True, weights=weights)


def _as_tensor(given: Any) -> Any:
    if isinstance(given, (_pdl.Tensor, Ragged, Sparse)):
        return given
    return _pdl.tensor(to_array(given, None))


def _snapshot(array: Any) -> Any:
    """An array as it is now: the function may write to it before its network runs."""
    tensor = _as_tensor(array)
    if not isinstance(tensor, _pdl.Tensor) or tensor.device != "cpu":
        return tensor
    bits = tensor._view("u16") if tensor.dtype == "bf16" else tensor
    return tensor if memoryview(bits).readonly else copy.copy(tensor)


def _trace(of: Callable[..., Value], args: Sequence[Any], places: Sequence[int]) -> Trace:
    trace = Trace()
    with trace:
        names = list(inspect.signature(of).parameters)
        values = []
        for i, one in enumerate(args):
            base = names[i] if i < len(names) else f"argument_{i}"
            values.append(trace.feed(_as_tensor(one), base))
        loss, gradients = _value_and_grad_in_graph(of, values, places)
        trace.output(loss, trace.new_name("value"))
        for i, gradient in enumerate(gradients):
            trace.output(gradient, trace.new_name(f"gradient_{i}"))
    return trace


def _value_and_grad_in_graph(
    of: Callable[..., Value], args: Sequence[Any], places: Sequence[int]
) -> tuple[Value, list[Value]]:
    loss = of(*args)
    if not isinstance(loss, Value):
        raise TypeError(
            f"the function gives {type(loss).__name__}, and no value made of its arguments: is it written "
            "with pdl.ops?"
        )
    return loss, loss.graph.grad(loss, [args[place] for place in places])
