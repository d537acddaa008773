"""Types in the syntax of the language: ``f32[N, 784]``, ``i64[N] in 0..10``, ``sparse f32[N, D]``."""

from __future__ import annotations


def dtype_of(type: str) -> str:
    """The dtype of a type."""
    return type.removeprefix("sparse ").partition("[")[0]


def dims_of(type: str) -> tuple[int | str, ...]:
    """The dims of a type: int, or str for expressions of symbols."""
    inside = type.partition(" in ")[0].partition("[")[2].rstrip("]")
    dims: list[int | str] = []
    depth, begin = 0, 0
    for i, c in enumerate(inside + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            dim = inside[begin:i].strip()
            begin = i + 1
            if dim:
                dims.append(int(dim) if dim.lstrip("-").isdigit() else dim)
    return tuple(dims)


def range_of(type: str) -> tuple[int, int] | None:
    """The half-open range of a type; None if there is none, or if it has symbols."""
    begin, dots, end = type.partition(" in ")[2].partition("..")
    return (int(begin), int(end)) if dots and begin.isdigit() and end.isdigit() else None
