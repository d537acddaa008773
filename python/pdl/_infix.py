"""Infix operators of values and tensors: each is sugar for an operator, as in the language."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T", bound="Infix")


def _apply(operator: str, *operands: Any) -> Any:
    from pdl import ops

    return getattr(ops, operator)(*operands)


class Infix:
    """What has infix operators."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __add__(self: T, other: Any) -> T:
        return _apply("add", self, other)  # type: ignore[no-any-return]

    def __radd__(self: T, other: Any) -> T:
        return _apply("add", other, self)  # type: ignore[no-any-return]

    def __sub__(self: T, other: Any) -> T:
        return _apply("sub", self, other)  # type: ignore[no-any-return]

    def __rsub__(self: T, other: Any) -> T:
        return _apply("sub", other, self)  # type: ignore[no-any-return]

    def __mul__(self: T, other: Any) -> T:
        return _apply("mul", self, other)  # type: ignore[no-any-return]

    def __rmul__(self: T, other: Any) -> T:
        return _apply("mul", other, self)  # type: ignore[no-any-return]

    def __truediv__(self: T, other: Any) -> T:
        return _apply("div", self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self: T, other: Any) -> T:
        return _apply("div", other, self)  # type: ignore[no-any-return]

    def __floordiv__(self: T, other: Any) -> T:
        return _apply("floor_div", self, other)  # type: ignore[no-any-return]

    def __rfloordiv__(self: T, other: Any) -> T:
        return _apply("floor_div", other, self)  # type: ignore[no-any-return]

    def __mod__(self: T, other: Any) -> T:
        return _apply("mod", self, other)  # type: ignore[no-any-return]

    def __rmod__(self: T, other: Any) -> T:
        return _apply("mod", other, self)  # type: ignore[no-any-return]

    def __matmul__(self: T, other: Any) -> T:
        return _apply("matmul", self, other)  # type: ignore[no-any-return]

    def __rmatmul__(self: T, other: Any) -> T:
        return _apply("matmul", other, self)  # type: ignore[no-any-return]

    def __pow__(self: T, other: Any) -> T:
        return _apply("pow", self, other)  # type: ignore[no-any-return]

    def __rpow__(self: T, other: Any) -> T:
        return _apply("pow", other, self)  # type: ignore[no-any-return]

    def __and__(self: T, other: Any) -> T:
        return _apply("logical_and", self, other)  # type: ignore[no-any-return]

    def __rand__(self: T, other: Any) -> T:
        return _apply("logical_and", other, self)  # type: ignore[no-any-return]

    def __or__(self: T, other: Any) -> T:
        return _apply("logical_or", self, other)  # type: ignore[no-any-return]

    def __ror__(self: T, other: Any) -> T:
        return _apply("logical_or", other, self)  # type: ignore[no-any-return]

    def __lt__(self: T, other: Any) -> T:
        return _apply("less", self, other)  # type: ignore[no-any-return]

    def __le__(self: T, other: Any) -> T:
        return _apply("less_equal", self, other)  # type: ignore[no-any-return]

    def __gt__(self: T, other: Any) -> T:
        return _apply("greater", self, other)  # type: ignore[no-any-return]

    def __ge__(self: T, other: Any) -> T:
        return _apply("greater_equal", self, other)  # type: ignore[no-any-return]

    def __eq__(self: T, other: Any) -> T:  # type: ignore[override]
        return _apply("equal", self, other)  # type: ignore[no-any-return]

    def __ne__(self: T, other: Any) -> T:  # type: ignore[override]
        return _apply("not_equal", self, other)  # type: ignore[no-any-return]

    def __neg__(self: T) -> T:
        return _apply("neg", self)  # type: ignore[no-any-return]

    def __invert__(self: T) -> T:
        return _apply("logical_not", self)  # type: ignore[no-any-return]

    def __abs__(self: T) -> T:
        return _apply("abs", self)  # type: ignore[no-any-return]


def install(kind: type) -> None:
    """Gives them to a class of the extension module."""
    for name, method in vars(Infix).items():
        if name.startswith("__") and (callable(method) and name not in ("__init_subclass__",)):
            setattr(kind, name, method)
