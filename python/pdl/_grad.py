"""Gradients: of values in a graph, and of Python functions."""

from __future__ import annotations

import copy
import inspect
from functools import lru_cache, wraps
from typing import Any, Callable, Sequence

from pdl import _call, _pdl
from pdl._arrays import to_array
from pdl._cache import Cache
from pdl._check import integer_of, shown
from pdl._graph import Graph, Rows, Value, rows_of
from pdl._network import with_values
from pdl._numbers import bits_of
from pdl._ragged import Lengths, Ragged, Sparse, bytes_of
from pdl._render import imports_of


def grad(
    of: Any, wrt: Any = None, cotangent: Value | None = None, *, argnums: int | Sequence[int] = 0
) -> Any:
    """The gradient of a value of a graph, or the gradient function of a Python function.

    Parameters
    ----------
    of : Value or callable
        a scalar of a graph (or any value, given its ``cotangent``), or a function of arrays, written with
        ``pdl.ops``, that returns a scalar
    wrt : Value or list of Value
        for a value: the values to differentiate with respect to
    cotangent : Value, optional
        for a value: its cotangent
    argnums : int or sequence of int
        for a function: the arguments to differentiate with respect to

    Returns
    -------
    Value or list of Value, or callable
        for a value its gradients, a list if ``wrt`` is one; for a function a function with the same arguments that
        returns the gradient, or a tuple if ``argnums`` is a sequence

    Notes
    -----
    Each call traces the function again, so changes of captured variables and Python control flow take effect. Calls
    that trace to the same network use it compiled. Captured arrays are inputs of that network, so a different array
    of the same type and sizes needs no compilation; a different Python number does.

    Examples
    --------
    >>> derivative = pdl.grad(lambda x: pdl.ops.sum(x ** 3))
    >>> derivative(numpy.array([1.0, 2.0]))
    >>> pdl.grad(lambda x: pdl.ops.sum(derivative(x)))    # the second derivative
    """
    if isinstance(of, Value):
        return of.graph.grad(of, wrt, cotangent)
    both = value_and_grad(of, argnums=argnums)

    @wraps(of)
    def function(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return function


def value_and_grad(
    of: Callable[..., Value], *, argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """A function that returns the value of ``of`` and its gradient; see ``pdl.grad``."""
    made: Cache[_pdl.NetworkCore] = Cache(most=64)

    indices, is_one = _indices(argnums), not isinstance(argnums, (list, tuple))
    if not callable(of):
        raise TypeError(f"expected a function or a value of a graph, not {shown(of)}")
    signature = inspect.signature(of)

    @wraps(of)
    def function(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if kwargs:
            args = _positional(signature, args, kwargs)
        for index in indices:
            if not -len(args) <= index < len(args):
                raise TypeError(f"argnums contains {index}, but there are {len(args)} arguments")
        if len({index % len(args) for index in indices}) < len(indices):
            raise ValueError(f"argnums contains an argument twice: {argnums}")
        if any(isinstance(one, Value) for one in args):  # a gradient of a gradient
            value, listed = _value_and_grad_in_graph(of, args, indices)
            return value, listed[0] if is_one else tuple(listed)
        trace = _trace(of, args, indices)
        text = trace.text()
        seed = _call.current_seed()
        if trace.has_parts:  # the parameters of networks in it may have changed
            results = _network(text, seed, trace)(trace.fed)
        else:
            network = made.get((text, seed), lambda: _network(text, seed, trace))
            results = network(trace.fed)
            num_bytes = sum(map(bytes_of, [*trace.fed.values(), *results.values()]))
            made.keep((text, seed), network, num_bytes)
        value, *gradients = results.values()
        return value, gradients[0] if is_one else tuple(gradients)

    return function


def _positional(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a call in the order of the parameters."""
    bound = signature.bind(*args, **kwargs)
    if bound.kwargs:
        names = ", ".join(f"'{name}'" for name in bound.kwargs)
        raise TypeError(f"{names} can only be given by name, and gradients are those of arguments by position")
    return bound.args


def _indices(argnums: Any) -> list[int]:
    """The argument indices in ``argnums``."""
    if not isinstance(argnums, (list, tuple)):
        return [integer_of(argnums, "argnums")]
    if not argnums:
        raise ValueError("argnums is empty")
    indices = [integer_of(one, "argnums") for one in argnums]
    if len(set(indices)) < len(indices):
        raise ValueError(f"argnums contains an argument twice: {argnums}")
    return indices


class Trace(Graph):
    """The graph of a traced function. Its arguments and the arrays that it captures are inputs."""

    def __init__(self) -> None:
        super().__init__()
        # The arrays for the inputs.
        self.fed: dict[str, Any] = {}
        self._lengths = Lengths()

    def feed(self, given: Any, base: str) -> Value:
        """Adds an input for an array."""
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
        return _rows_of(imports_of(self.libraries) + text, tuple(self.files.items()))


# Tracing a function again mostly gives the same source.
_rows_of = lru_cache(maxsize=1024)(rows_of)


def _network(text: str, seed: int, trace: Trace) -> _pdl.NetworkCore:
    program = _pdl.compile(text, "<gradient>", files=trace.files, is_generated=True)
    weights = with_values(program, trace.part_values(), None)
    return _pdl.NetworkCore(program, seed=seed, at_once=True, weights=weights)


def _as_tensor(given: Any) -> Any:
    if isinstance(given, (_pdl.Tensor, Ragged, Sparse)):
        return given
    return _pdl.tensor(to_array(given, None))


def _snapshot(array: Any) -> Any:
    """A copy of an array that may be modified before the network runs; others are returned as they are."""
    tensor = _as_tensor(array)
    if not isinstance(tensor, _pdl.Tensor) or tensor.device != "cpu":
        return tensor
    return copy.copy(tensor) if bits_of(tensor).flags.writeable else tensor


def _trace(of: Callable[..., Value], args: Sequence[Any], indices: Sequence[int]) -> Trace:
    trace = Trace()
    with trace:
        names = list(inspect.signature(of).parameters)
        values = []
        for i, one in enumerate(args):
            base = names[i] if i < len(names) else f"argument_{i}"
            values.append(trace.feed(_as_tensor(one), base))
        loss, gradients = _value_and_grad_in_graph(of, values, indices)
        trace.output(loss, trace.new_name("value"))
        for i, gradient in enumerate(gradients):
            trace.output(gradient, trace.new_name(f"gradient_{i}"))
    return trace


def _value_and_grad_in_graph(
    of: Callable[..., Value], args: Sequence[Any], indices: Sequence[int]
) -> tuple[Value, list[Value]]:
    loss = of(*args)
    if not isinstance(loss, Value):
        raise TypeError(
            f"the function must return a value computed from its arguments by pdl.ops, got {type(loss).__name__}"
        )
    return loss, loss.graph.grad(loss, [args[index] for index in indices])
