"""Elements in order."""

import numpy as np

from cases import *


def order(x, axis=-1, descending=False):
    """Places in the order of the elements; equal ones stay in theirs, nan is the largest."""
    if is_float(x.dtype):
        x = x.astype(np.float64)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Reversing, sorting and reversing again keeps the order of equal elements.
    turned = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(turned, axis)


def inputs(t):
    """(name, x, axis) of every kind."""
    for dtype in ALL:
        yield dtype, numbers(dtype, (2, 5)), -1
        yield f"{dtype}, columns", numbers(dtype, (5, 2), seed=1), 0
    x = numbers("f64", (2, 3, 4))
    for axis in [0, 1, 2, -2]:
        yield f"axis {axis}", x, axis
    for dtype in FLOATS:
        yield f"{dtype}: nan and infinities", array(
            [1, np.nan, -np.inf, 0.0, -0.0, np.inf, np.nan, -1, -0.0, 0.0], dtype), -1
    yield "equal elements", array([2, 1, 2, 1, 2, 1, 3], "i32"), -1
    yield "large integers", array([2**62, -2**63, 2**63 - 1, 0, -1], "i64"), -1
    yield "many", array(np.random.default_rng(1).integers(-50, 50, 300), "i32"), -1
    yield "more than a block", array(np.random.default_rng(2).integers(-99, 99, 1500), "i8"), -1
    yield "many columns", array(np.random.default_rng(3).integers(0, 9, (40, 7)), "f32"), 0
    yield "one element", array([3], "f32"), 0
    yield "an empty tensor", numbers("f32", (0,)), -1
    yield "an axis of size 0", numbers("f32", (2, 0)), 0


@operator("sort")
def sort(t):
    for descending in [False, True]:
        for name, x, axis in inputs(t):
            if descending and name == "more than a block":
                continue
            places = order(x, axis, descending).astype(np.int64)
            t.case(name, x, (np.take_along_axis(x, places, axis), places), axis=axis,
                   descending=descending)
    t.refused("a scalar", "a scalar has no axis -1", "sort(x)", "x: f32[] = 1.0")


@operator("argsort")
def argsort(t):
    for descending in [False, True]:
        for name, x, axis in inputs(t):
            if name != "more than a block":
                t.case(name, x, order(x, axis, descending).astype(np.int64), axis=axis,
                       descending=descending)
    t.refused("no such axis", "axis 1 is outside -1..=0", "argsort(zeros([2]), axis=1)")


@operator("topk")
def topk(t):
    for largest in [True, False]:
        for name, x, axis in inputs(t):
            size = x.shape[axis]
            k = min(3, size) if size < 100 else 20
            places = np.take(order(x, axis, largest), range(k), axis).astype(np.int64)
            t.case(name, x, (np.take_along_axis(x, places, axis), places), k=[k], axis=axis,
                   largest=largest)
    x = numbers("f32", (2, 3))
    t.case("none", x, (np.zeros((2, 0), np.float32), np.zeros((2, 0), np.int64)), k=[0])
    places = order(x, -1, True).astype(np.int64)
    t.case("all", x, (np.take_along_axis(x, places, -1), places), k=[3])
    t.refused("more than there are", "axis 1 of f32[2, 3] has fewer than 4 elements",
              "topk(zeros([2, 3]), 4)")
    t.refused("two sizes", "'k' must be one size, got 2", "topk(zeros([2, 3]), [1, 1])")
