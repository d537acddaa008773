"""Gradients: of values in a graph, and of Python functions."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Sequence

from pdl import _pdl
from pdl._arrays import is_array
from pdl._graph import Graph, Value
from pdl._network import Network
from pdl._ragged import Ragged, Sparse


def grad(
    of: Any, wrt: Any = None, cotangent: Value | None = None, *, argnums: int | Sequence[int] = 0
) -> Any:
    """Of a value of a graph: its gradient with respect to a value, or to each of a list. Of a function
    of arrays that gives a scalar: the function that gives its gradient with respect to its argument
    ``argnums``, or a tuple of several::

        slope = pdl.grad(lambda x: pdl.ops.sum(x ** 3))
        slope(numpy.array([1.0, 2.0]))
    """
    if isinstance(of, Value):
        return of.graph.grad(of, wrt, cotangent)
    function = value_and_grad(of, argnums=argnums)
    return lambda *args: function(*args)[1]


def value_and_grad(
    of: Callable[..., Value], *, argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """The function that gives the value of ``of``, and its gradient."""
    made: dict[tuple[str, ...], Network] = {}

    def function(*args: Any) -> tuple[Any, Any]:
        tensors = [_as_tensor(one) for one in args]
        types = tuple(one.type for one in tensors)
        network = made.get(types)
        if network is None:
            network = made[types] = _derive(of, types, argnums)
        results = network(dict(zip(network.inputs, tensors)))
        value, *gradients = results.values()
        return value, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return function


def _as_tensor(given: Any) -> Any:
    if isinstance(given, (_pdl.Tensor, Ragged, Sparse)):
        return given
    if not is_array(given):
        raise TypeError("the arguments of a function that is derived are arrays")
    return _pdl.tensor(given)


def _derive(
    of: Callable[..., Value], types: tuple[str, ...], argnums: int | Sequence[int]
) -> Network:
    with Graph() as graph:
        names = list(inspect.signature(of).parameters)
        values = []
        for i, type in enumerate(types):
            base = names[i] if i < len(names) else f"argument_{i}"
            values.append(graph.input(graph.new_name(base), type))
        loss = of(*values)
        places = [argnums] if isinstance(argnums, int) else list(argnums)
        gradients = graph.grad(loss, [values[i] for i in places])
        graph.output(loss, "value")
        for i, gradient in enumerate(gradients):
            graph.output(gradient, f"gradient_{i}")
    return graph.compile()
