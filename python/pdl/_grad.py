"""Gradients: of values in a graph, and of Python functions."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Sequence

import numpy as np

from pdl import _pdl
from pdl._arrays import is_array
from pdl._cache import Cache
from pdl._graph import Graph, Value
from pdl._network import Network
from pdl._ragged import Ragged, Sparse, bytes_of


def grad(
    of: Any, wrt: Any = None, cotangent: Value | None = None, *, argnums: int | Sequence[int] = 0
) -> Any:
    """Of a value of a graph: its gradient with respect to a value, or to each of a list. Of a function
    of arrays that gives a scalar: the function that gives its gradient with respect to its argument
    ``argnums``, or a tuple of several::

        slope = pdl.grad(lambda x: pdl.ops.sum(x ** 3))
        slope(numpy.array([1.0, 2.0]))
        pdl.grad(lambda x: pdl.ops.sum(slope(x)))    # the second derivative
    """
    if isinstance(of, Value):
        return of.graph.grad(of, wrt, cotangent)
    function = value_and_grad(of, argnums=argnums)
    return lambda *args: function(*args)[1]


def value_and_grad(
    of: Callable[..., Value], *, argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """The function that gives the value of ``of``, and its gradient."""
    made: Cache[Network] = Cache(most=64)

    places = [argnums] if isinstance(argnums, int) else list(argnums)

    def function(*args: Any) -> tuple[Any, Any]:
        for place in places:
            if not -len(args) <= place < len(args):
                raise TypeError(f"argnums has {place}, and there are {len(args)} arguments")
        if any(isinstance(one, Value) for one in args):  # a gradient of a gradient
            value, listed = _value_and_grad_in_graph(of, args, places)
            return value, listed[0] if isinstance(argnums, int) else tuple(listed)
        tensors = [_as_tensor(one) for one in args]
        types = tuple(one.type for one in tensors)
        network = made.get(types, lambda: _derive(of, types, places))
        results = network(dict(zip(network.inputs, tensors)))
        made.keep(types, network, sum(map(bytes_of, [*tensors, *results.values()])))
        value, *gradients = results.values()
        return value, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return function


def _as_tensor(given: Any) -> Any:
    if isinstance(given, (_pdl.Tensor, Ragged, Sparse)):
        return given
    return _pdl.tensor(given if is_array(given) else np.asarray(given))


def _derive(of: Callable[..., Value], types: tuple[str, ...], places: Sequence[int]) -> Network:
    with Graph() as graph:
        names = list(inspect.signature(of).parameters)
        values = []
        for i, type in enumerate(types):
            base = names[i] if i < len(names) else f"argument_{i}"
            values.append(graph.input(graph.new_name(base), type))
        loss, gradients = _value_and_grad_in_graph(of, values, places)
        graph.output(loss, "value")
        for i, gradient in enumerate(gradients):
            graph.output(gradient, f"gradient_{i}")
    return graph.compile()


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
