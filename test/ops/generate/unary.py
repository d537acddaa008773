"""Elementwise operators of one input."""

import numpy as np
import scipy.special

from cases import *


def unary(t, function, dtypes, low=-3, high=3, **attributes):
    """Each dtype on ordinary numbers; special values; empty tensors; a scalar."""
    for dtype in dtypes:
        x = numbers(dtype, (2, 3), low, high)
        t.case(dtype, x, exact(function, x), **attributes)
        if is_float(dtype):
            x = specials(dtype)
            t.case(f"{dtype}: nan, infinities and zeros", x, exact(function, x), **attributes)
    for shape in [(0,), (3, 0), (0, 2)]:
        x = numbers(dtypes[0], shape)
        t.case("empty " + "x".join(map(str, shape)), x, x.copy(), **attributes)
    x = numbers(dtypes[0], (), low, high)
    t.case("a scalar", x, exact(function, x), **attributes)
    if len(dtypes) > len(FLOATS):
        for dtype in dtypes:
            if not is_float(dtype) and dtype != "bool":
                info = np.iinfo(DTYPES[dtype])
                x = array([info.min, info.max, info.min + 1], dtype)
                t.case(f"{dtype}: the ends of its range", x, exact(function, x), **attributes)


def declare(name, function, dtypes=FLOATS, **options):
    @operator(name)
    def cases(t):
        unary(t, function, dtypes, **options)
    return cases


declare("relu", lambda x: np.maximum(x, 0), NUMBERS)
declare("neg", lambda x: -x, NUMBERS)
declare("abs", np.abs, NUMBERS)
declare("sign", np.sign, NUMBERS)
declare("exp", np.exp)
declare("log", np.log, low=0.25, high=4)
declare("sqrt", np.sqrt, low=0.25, high=4)
declare("rsqrt", lambda x: 1 / np.sqrt(x), low=0.25, high=4)
declare("reciprocal", lambda x: 1 / x, low=0.25, high=4)
declare("tanh", np.tanh)
declare("sigmoid", scipy.special.expit)
declare("erf", scipy.special.erf)
declare("floor", np.floor)
declare("ceil", np.ceil)
declare("round", np.round)


@operator("cos")
def cos(t):
    unary(t, np.cos, FLOATS)
    x = numbers("f64", (2, 3))
    t.case("scaled", x, exact(lambda x: 2.5 * np.cos(x), x), scale=2.5)
    x = array([1e4, -1e6, 1e9, 3e38], "f32")
    t.case("large arguments", x, exact(np.cos, x))


@operator("sin")
def sin(t):
    unary(t, np.sin, FLOATS)
    x = numbers("f64", (2, 3))
    t.case("scaled", x, exact(lambda x: 0.5 * np.sin(x), x), scale=0.5)
    x = array([1e4, -1e6, 1e9, 3e38], "f32")
    t.case("large arguments", x, exact(np.sin, x))
