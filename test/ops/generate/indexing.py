"""Elements at places: gather_nd, take_along_axis, scatter, scatter_nd, write."""

import numpy as np

from cases import *

UPDATES = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def i64(values):
    return array(values, "i64")


def missing(dtype):
    return np.nan if is_float(dtype) else 0


@operator("gather_nd")
def gather_nd(t):
    def want(x, indices, batch_dims=0):
        if batch_dims == 0:
            return x[tuple(np.moveaxis(indices, -1, 0))]
        return np.stack([want(part, places, batch_dims - 1) for part, places in zip(x, indices)])

    for dtype in ALL:
        x = numbers(dtype, (3, 4))
        places = i64([[0, 1], [2, -1], [-3, 0]])
        t.case(dtype, [x, places], want(x, places))
        outside = array([[3, 0], [0, 4], [-4, 0], [1, 1]], "i32")
        w = array([missing(dtype)] * 3 + [x[1, 1]], dtype)
        t.case(f"{dtype}: outside", [x, outside], w)
    x = numbers("f64", (3, 4, 2))
    for places in [[[0], [2]], [[[0, 1], [1, 2]]], [[0, 1, 1], [2, 3, 0]], [2], [0, 3, -1]]:
        t.case(f"at {places}", [x, i64(places)], want(x, i64(places)))
    t.case("nothing is indexed", [x, i64(np.zeros((2, 0)))], np.stack([x, x]))
    places = i64([[[0], [1]], [[3], [0]], [[-1], [2]]])
    t.case("shared axes", [x, places], want(x, places, 1), batch_dims=1)
    places = i64(np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0]).reshape(3, 4, 1, 1))
    t.case("two shared axes", [x, places], want(x, places, 2), batch_dims=2)
    s = specials()
    t.case("nan and infinities", [s, i64([[2], [1], [0]])], s[[2, 1, 0]])
    t.case("no places", [x, i64(np.zeros((0, 2)))], np.zeros((0, 2)))
    t.case("an empty tensor", [numbers("f32", (0, 2)), i64([[0]])], array([[np.nan] * 2], "f32"))
    t.case("an axis of size 0", [numbers("f32", (2, 0)), i64([[1]])], numbers("f32", (1, 0)))
    t.refused("too many axes", "3 axes are indexed, but f32[2, 2] has 2",
              "gather_nd(zeros([2, 2]), [[0, 0, 0]])")
    t.refused("too many shared", "cannot share 2 axes before the indexed ones",
              "gather_nd(zeros([2, 2]), [[0], [0]], batch_dims=2)")


@operator("take_along_axis")
def take_along_axis(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        places = i64([[0, -1], [1, 2]])
        t.case(dtype, [x, places], np.take_along_axis(x, places, 1))
        w = np.array(x)
        w[:] = array(missing(dtype), dtype)
        w[1, 0] = x[1, 2]
        t.case(f"{dtype}: outside", [x, array([[3, 9, -4], [2, -5, 3]], "i32")], w)
    x = numbers("f64", (3, 2, 4))
    generator = np.random.default_rng(5)
    for axis in [0, 1, 2, -2]:
        shape = list(x.shape)
        shape[axis] = 5
        places = i64(generator.integers(-x.shape[axis], x.shape[axis], shape))
        t.case(f"axis {axis}", [x, places], np.take_along_axis(x, places, axis), axis=axis)
    places = i64([[[1], [0]]])
    t.case("the places are repeated", [x, places], np.take_along_axis(x, places, 2))
    y = numbers("f64", (1, 2, 1))
    places = i64(generator.integers(0, 2, (3, 3, 4)))
    t.case("x is repeated", [y, places], np.take_along_axis(y, places, 1), axis=1)
    s = specials()
    t.case("nan and infinities", [s, i64([2, 1, 0])], s[[2, 1, 0]])
    t.case("no places", [s, i64([])], np.zeros(0, np.float32))
    t.case("an empty tensor", [numbers("f32", (0,)), i64([0])], array([np.nan], "f32"))
    t.case("an axis of size 0", [numbers("f32", (2, 0)), i64([[0], [0]])],
           array([[np.nan], [np.nan]], "f32"))
    t.refused("ranks differ", "ranks differ: 2 and 1", "take_along_axis(zeros([2, 2]), [0])")
    t.refused("sizes beside the axis", "sizes do not broadcast: 2 and 3",
              "take_along_axis(zeros([2, 2]), [[0], [0], [0]])")


def updated(x, places, updates, reduction):
    """x with updates at a tuple of index arrays, one after another."""
    y = np.array(x)
    if reduction == "none":
        y[places] = updates
    else:
        UPDATES[reduction].at(y, places, updates)
    return y


def scattered(x, indices, updates, axis=-1, reduction="none"):
    places = list(np.indices(indices.shape))
    places[axis] = indices
    return updated(x, tuple(places), updates, reduction)


@operator("scatter")
def scatter(t):
    for dtype in ALL:
        x, updates = numbers(dtype, (2, 3)), numbers(dtype, (2, 4), seed=1)
        places = i64([[0, 2, 0, -1], [1, 1, 1, -3]])
        for reduction in ["none"] if dtype == "bool" else ["none", "add", "mul", "min", "max"]:
            t.case(f"{dtype}, {reduction}", [x, places, updates],
                   exact(lambda x, u: scattered(x, places, u, -1, reduction), x, updates),
                   reduction=reduction, tol=8e-3 if dtype in ("f16", "bf16") else None)
    x = numbers("f64", (3, 4, 2))
    generator = np.random.default_rng(6)
    for axis in [0, 1, 2, -2]:
        shape = list(x.shape)
        shape[axis] = 5
        places = i64(generator.integers(-x.shape[axis], x.shape[axis], shape))
        updates = numbers("f64", shape, seed=1)
        for reduction in ["none", "add"]:
            t.case(f"axis {axis}, {reduction}", [x, places, updates],
                   scattered(x, places, updates, axis, reduction), axis=axis,
                   reduction=reduction, tol=1e-12)
    places, updates = i64([[[1], [3]], [[0], [0]]]), numbers("f64", (2, 2, 1), seed=2)
    t.case("smaller beside the axis", [x, places, updates], scattered(x, places, updates, 1),
           axis=1)
    t.case("outside", [array([1, 2], "f32"), array([2, 0, -3, 7], "i32"), array([3, 4, 5, 6], "f32")],
           array([4, 2], "f32"))
    s = specials()
    for reduction in ["none", "add", "mul", "min", "max"]:
        base = numbers("f32", (7,), 1, 2)
        t.case(f"{reduction}: nan and infinities", [base, i64(range(7)), s],
               scattered(base, i64(range(7)), s, 0, reduction), reduction=reduction)
        t.case(f"{reduction}: into nan and infinities", [s, i64(range(7)), base],
               scattered(s, i64(range(7)), base, 0, reduction), reduction=reduction)
    large = array([2**31 - 1, -2**31], "i32")
    t.case("integers wrap around", [large, i64([0, 1]), array([1, -1], "i32")],
           array([-2**31, 2**31 - 1], "i32"), reduction="add")
    t.case("no updates", [s, i64([]), np.zeros(0, np.float32)], s)
    empty = numbers("f32", (0,))
    t.case("an empty tensor", [empty, i64([0]), array([1], "f32")], empty)
    empty = numbers("f32", (2, 0))
    t.case("an axis of size 0", [empty, i64([[0], [0]]), array([[1], [1]], "f32")], empty)
    t.refused("truth values added", "does not support the reduction 'add'",
              'scatter(x, [0], x, reduction="add")', "x: bool[1] = [true]")
    t.refused("larger beside the axis", "the indices are larger than x along another axis: 1 is less than 2",
              "scatter(zeros([1, 2]), [[0], [0]], zeros([2, 1]))")
    t.refused("too few updates", "must have the dims of 'indices'",
              "scatter(zeros([3]), [0, 1], zeros([1]))")


@operator("scatter_nd")
def scatter_nd(t):
    def want(x, indices, updates, reduction="none", batch_dims=0):
        if batch_dims > 0:
            return np.stack([want(*parts, reduction, batch_dims - 1)
                             for parts in zip(x, indices, updates)])
        return updated(x, tuple(np.moveaxis(indices, -1, 0)), updates, reduction)

    for dtype in ALL:
        x, updates = numbers(dtype, (2, 3)), numbers(dtype, (4,), seed=1)
        places = i64([[0, 1], [1, 2], [0, -2], [-1, 0]])
        for reduction in ["none"] if dtype == "bool" else ["none", "add", "mul", "min", "max"]:
            t.case(f"{dtype}, {reduction}", [x, places, updates],
                   exact(lambda x, u: want(x, places, u, reduction), x, updates),
                   reduction=reduction, tol=8e-3 if dtype in ("f16", "bf16") else None)
    x = numbers("f64", (3, 4, 2))
    places, updates = i64([[2], [0], [2]]), numbers("f64", (3, 4, 2), seed=1)
    for reduction in ["none", "add", "mul", "min", "max"]:
        t.case(f"whole rows, {reduction}", [x, places, updates],
               want(x, places, updates, reduction), reduction=reduction, tol=1e-12)
    places, updates = i64([[[0, 1, 1]], [[2, 3, 0]]]), numbers("f64", (2, 1), seed=1)
    t.case("single elements", [x, places, updates], want(x, places, updates))
    places, updates = i64([[[0], [1]], [[3], [3]], [[-1], [2]]]), numbers("f64", (3, 2, 2), seed=1)
    t.case("shared axes", [x, places, updates], want(x, places, updates, "add", 1),
           reduction="add", batch_dims=1)
    t.case("nothing is indexed", [x, i64(np.zeros((2, 0))), np.stack([x, x])], x + x + x,
           reduction="add")
    t.case("outside", [array([[1, 2], [3, 4]], "f32"),
                       array([[2, 0], [0, -3], [0, 1], [-1, 2]], "i32"),
                       array([5, 6, 7, 8], "f32")], array([[1, 7], [3, 4]], "f32"))
    s, base = specials(), numbers("f32", (7,), 1, 2)
    for reduction in ["none", "add", "mul", "min", "max"]:
        places = i64(range(7)).reshape(7, 1)
        t.case(f"{reduction}: nan and infinities", [base, places, s],
               want(base, places, s, reduction), reduction=reduction)
    t.case("no updates", [s, i64(np.zeros((0, 1))), np.zeros(0, np.float32)], s)
    empty = numbers("f32", (0, 2))
    t.case("an empty tensor", [empty, i64([[0]]), array([[1, 2]], "f32")], empty)
    empty = numbers("f32", (2, 0))
    t.case("an axis of size 0", [empty, i64([[1]]), numbers("f32", (1, 0))], empty)
    t.refused("updates of other dims", "'updates' must have dims [1, 2], got f32[1]",
              "scatter_nd(zeros([2, 2]), [[0]], zeros([1]))")
    t.refused("truth values added", "does not support the reduction 'max'",
              'scatter_nd(x, [[0]], x, reduction="max")', "x: bool[1] = [true]")


@operator("write")
def write(t):
    def want(x, value, at, axis=0):
        y = np.array(x)
        y, value = np.moveaxis(y, axis, 0), np.moveaxis(value, axis, 0)
        at = at + len(y) if at < 0 else at
        for i, row in enumerate(value):
            if 0 <= at + i < len(y):
                y[at + i] = row
        return np.moveaxis(y, 0, axis)

    for dtype in ALL:
        x, value = numbers(dtype, (4, 2)), numbers(dtype, (2, 2), seed=1)
        t.case(dtype, [x, value, i64(1)], want(x, value, 1))
    x = numbers("f64", (2, 5, 3))
    value = numbers("f64", (2, 2, 3), seed=1)
    for at in [0, 3, 4, 5, 100, -1, -2, -5, -6, -7, -100]:
        t.case(f"at {at}", [x, value, array(at, "i32")], want(x, value, at, 1), axis=1)
    value = numbers("f64", (2, 5, 1), seed=1)
    t.case("the last axis", [x, value, i64(1)], want(x, value, 1, -1), axis=-1)
    t.case("all of it", [x, numbers("f64", x.shape, seed=1), i64(0)], numbers("f64", x.shape, seed=1))
    s = specials()
    t.case("nan and infinities", [numbers("f32", (7,)), s, i64(0)], s)
    t.case("nothing", [s, np.zeros(0, np.float32), i64(2)], s)
    empty = numbers("f32", (0,))
    t.case("an empty tensor", [empty, empty, i64(0)], empty)
    empty = numbers("f32", (2, 0))
    t.case("an axis of size 0", [empty, empty, i64(1)], empty)
    t.refused("a larger value", "the value is larger than x along the axis: 2 is less than 3",
              "write(zeros([2]), zeros([3]), 0)")
    t.refused("sizes beside the axis", "sizes along other axes differ: 2 and 1",
              "write(zeros([3, 2]), zeros([1, 1]), 0)")
    t.refused("several positions", "'at' must be a scalar, got i64[1]",
              "write(zeros([2]), zeros([1]), [0])")
