"""Types in the syntax of the language: ``f32[N, 784]``, ``i64[N] in 0..10``, ``sparse f32[N, D]``."""

from __future__ import annotations

from typing import Any


def dtype_of(type: str) -> str:
    """The dtype of a type."""
    return type.removeprefix("sparse ").partition("[")[0]


class Size(str):
    """A size that depends on symbols: a string such as "6*N", whose arithmetic gives sizes again.

    The other operand of ``+ - * // %`` is a size or an int; ``+`` with any other string joins them."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return str.__add__(self, other) if _is_text(other) else _size(self, "+", other)

    def __radd__(self, other: Any) -> Any:
        return str.__add__(other, self) if _is_text(other) else _size(other, "+", self)

    def __sub__(self, other: Any) -> Any:
        return _size(self, "-", other)

    def __rsub__(self, other: Any) -> Any:
        return _size(other, "-", self)

    def __mul__(self, other: Any) -> Any:
        return _size(self, "*", other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return _size(self, "//", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _size(other, "//", self)

    def __mod__(self, other: Any) -> Any:
        return _size(self, "%", other)

    def __rmod__(self, other: Any) -> Any:
        return str.__mod__(other, self) if _is_text(other) else _size(other, "%", self)


def _is_text(other: object) -> bool:
    return isinstance(other, str) and not isinstance(other, Size)


def _size(left: object, operator: str, right: object) -> Any:
    """The size of an expression; NotImplemented for an operand that is no size."""
    parts = []
    for one in (left, right):
        if isinstance(one, bool) or not isinstance(one, (Size, int)):
            return NotImplemented
        parts.append(str(one) if str(one).isalnum() else f"({one})")
    return Size(f" {operator} ".join(parts))


def dims_of(type: str) -> tuple[int | str, ...]:
    """The dims of a type: int, or Size for expressions of symbols."""
    inside = type.partition(" in ")[0].partition("[")[2].rstrip("]")
    dims: list[int | str] = []
    depth, begin = 0, 0
    for i, c in enumerate(inside + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            dim = inside[begin:i].strip()
            begin = i + 1
            if dim:
                dims.append(int(dim) if dim.lstrip("-").isdigit() else Size(dim))
    return tuple(dims)


def range_of(type: str) -> tuple[int, int] | None:
    """The half-open range of a type; None if there is none, or if it has symbols."""
    begin, dots, end = type.partition(" in ")[2].partition("..")
    return (int(begin), int(end)) if dots and begin.isdigit() and end.isdigit() else None
