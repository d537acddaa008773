"""Infix operators of tensors and values: each is sugar for an operator, as in the language."""

from __future__ import annotations

from typing import Any, Callable

from pdl import _pdl, ops
from pdl._graph import Value

_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_div",
    "mod": "mod",
    "matmul": "matmul",
    "pow": "pow",
    "and": "logical_and",
    "or": "logical_or",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_UNARY = {"neg": "neg", "invert": "logical_not", "abs": "abs"}


def _binary(operator: str, is_reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        function = getattr(ops, operator)
        return function(other, self) if is_reflected else function(self, other)

    return method


def _unary(operator: str) -> Callable[[Any], Any]:
    return lambda self: getattr(ops, operator)(self)


def install() -> None:
    """Gives them to both classes."""
    for kind in (_pdl.Tensor, Value):
        for name, operator in {**_BINARY, **_COMPARISONS}.items():
            setattr(kind, f"__{name}__", _binary(operator))
        for name, operator in _BINARY.items():
            setattr(kind, f"__r{name}__", _binary(operator, is_reflected=True))
        for name, operator in _UNARY.items():
            setattr(kind, f"__{name}__", _unary(operator))
        setattr(kind, "__hash__", object.__hash__)
