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


@operator("mean")
def mean_cases(t):
    reduction(t, np.mean, FLOATS, np.nan)


@operator("max")
def max_cases(t):
    reduction(t, np.max, NUMBERS, None)


@operator("min")
def min_cases(t):
    reduction(t, np.min, NUMBERS, None)
