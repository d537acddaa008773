"""Reductions over axes."""

import numpy as np

from cases import *


def reduction(t, function, dtypes, empty, low=-3, high=3, integers=None):
    """`function(x, axis, keepdims)` as NumPy's; `empty`: what it gives for nothing, None where that
    is refused; `integers`: the dtype of the result where it is another one for integers."""
    def want(x, axes=None, keep=False):
        axis = None if axes is None else tuple(axes)
        return exact(lambda x: function(x, axis=axis, keepdims=keep), x,
                     dtype=None if is_float(x.dtype) else integers)

    for dtype in dtypes:
        x = numbers(dtype, (2, 3), low, high)
        t.case(dtype, x, want(x))
        t.case(f"{dtype}, rows", x, want(x, [1]), axes=[1])
        if is_float(dtype):
            x = array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [np.inf, -np.inf, 0],
                       [np.inf, np.nan, 0]], dtype)
            t.case(f"{dtype}: nan and infinities", x, want(x, [1]), axes=[1])
    x = numbers("f64", (2, 3, 4), low, high)
    t.case("negative axes", x, want(x, [-1, 0]), axes=[-1, 0])
    t.case("axes kept", x, want(x, [1], True), axes=[1], keep=True)
    t.case("all axes kept", x, want(x, None, True), keep=True)
    t.case("many", numbers("f32", (3, 50), -1, 1), want(numbers("f32", (3, 50), -1, 1), [1]),
           axes=[1], tol=1e-5)
    x = numbers("f32", (3, 0))
    t.case("no rows are left over", x.T, want(x.T, [1]), axes=[1])
    if empty is not None:
        t.case("nothing to reduce", x, array([empty] * 3, "f32"), axes=[1])
        t.case("an empty tensor", numbers("f32", (0,)), array(empty, "f32"))


@operator("sum")
def sum_cases(t):
    reduction(t, np.sum, NUMBERS, 0, integers="i64")
    x = numbers("bool", (2, 4))
    t.case("counts what is true", x, x.sum(1), axes=[1])


@operator("mean")
def mean_cases(t):
    reduction(t, np.mean, FLOATS, np.nan)


@operator("max")
def max_cases(t):
    reduction(t, np.max, NUMBERS, None)


@operator("min")
def min_cases(t):
    reduction(t, np.min, NUMBERS, None)


@operator("norm")
def norm(t):
    reduction(t, lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
              FLOATS, 0)


@operator("argmax")
def argmax(t):
    def want(x, axis=-1, keep=False):
        # NumPy's argmax gives the first nan, too; bf16 it does not know.
        x = x.astype(np.float64) if is_float(x.dtype) else x
        return np.argmax(x, axis=axis, keepdims=keep).astype(np.int64)

    for dtype in ALL:
        x = numbers(dtype, (2, 4))
        t.case(dtype, x, want(x))
    for dtype in FLOATS:
        x = array([[np.nan, 1, 2], [np.inf, 1, np.nan], [-np.inf, -np.inf, 1], [3, np.inf, np.inf]],
                  dtype)
        t.case(f"{dtype}: nan and infinities", x, want(x))
    x = numbers("f32", (2, 3, 4))
    t.case("another axis", x, want(x, 0), axis=0)
    t.case("kept", x, want(x, 1, True), axis=1, keep=True)
    t.case("the first of equal ones", array([1, 3, 3, 2], "i32"), np.int64(1))
    x = numbers("f32", (0, 3))
    t.case("no rows", x, want(x))
    t.refused("of nothing", "", "argmax(zeros([3, 0]))")


@operator("moments")
def moments(t):
    def want(x, keep=()):
        axes = tuple(axis for axis in range(x.ndim) if axis not in [k % x.ndim for k in keep])
        return exact(lambda x: (x.mean(axes), x.var(axes)), x)

    for dtype in FLOATS:
        x = numbers(dtype, (3, 4))
        t.case(dtype, x, want(x, [1]), keep=[1])
        x = array([[np.nan, 1, np.inf], [2, 1, -np.inf], [0, 3, 1]], dtype)
        t.case(f"{dtype}: nan and infinities", x, want(x, [1]), keep=[1])
    x = numbers("f64", (2, 3, 4))
    t.case("of all", x, want(x))
    t.case("negative axes kept", x, want(x, [-1, 0]), keep=[-1, 0])
    x = array(1e6 + np.arange(8), "f64")
    t.case("far from 0", x, want(x))
    nothing = array([np.nan] * 3, "f32")
    t.case("of nothing", numbers("f32", (0, 3)), (nothing, nothing), keep=[1])
    t.case("nothing is left", numbers("f32", (3, 0)), want(numbers("f32", (3, 0)), [1]), keep=[1])
