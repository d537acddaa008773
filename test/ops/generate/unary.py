"""Elementwise operators of one input."""

import numpy as np
import scipy.special

from cases import *


def unary(t, function, dtypes, low=-3, high=3, result=None, **attributes):
    """Each dtype on ordinary numbers; special values; empty tensors; a scalar. `result`: the dtype
    of the result where it is another one."""
    inner = function

    def function(*arrays):
        return exact(inner, *arrays, dtype=result)

    for dtype in dtypes:
        x = numbers(dtype, (2, 3), low, high)
        t.case(dtype, x, function(x), **attributes)
        if is_float(dtype):
            x = specials(dtype)
            t.case(f"{dtype}: nan, infinities and zeros", x, function(x), **attributes)
    for shape in [(0,), (3, 0), (0, 2)]:
        x = numbers(dtypes[0], shape)
        t.case("empty " + "x".join(map(str, shape)), x, function(x), **attributes)
    x = numbers(dtypes[0], (), low, high)
    t.case("a scalar", x, function(x), **attributes)
    if len(dtypes) > len(FLOATS):
        for dtype in dtypes:
            if not is_float(dtype) and dtype != "bool":
                info = np.iinfo(DTYPES[dtype])
                x = array([info.min, info.max, info.min + 1], dtype)
                t.case(f"{dtype}: the ends of its range", x, function(x), **attributes)


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
declare("isnan", np.isnan, result="bool")
declare("isinf", np.isinf, result="bool")
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


@operator("clip")
def clip(t):
    for dtype in NUMBERS:
        low, high = (1, 3) if dtype == "u8" else (-1, 2)
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, exact(lambda x: np.clip(x, low, high), x), low=float(low), high=float(high))
    x = specials("f32")
    t.case("special values", x, np.clip(x, -1, 2), low=-1.0, high=2.0)
    t.case("from below alone", x, np.maximum(x, -1), low=-1.0)
    t.case("from above alone", x, np.minimum(x, 0.5), high=0.5)
    t.case("between infinities", x, x, low=-np.inf, high=np.inf)
    x = numbers("f64", (2, 3))
    t.case("f64 from above", x, np.minimum(x, 0.5), high=0.5)
    for dtype in NUMBERS:
        low, high = (3, 1) if dtype == "u8" else (2, -1)
        x = numbers(dtype, (2, 3))
        t.case(f"{dtype}, low above high", x, exact(lambda x: np.clip(x, low, high), x),
               low=float(low), high=float(high))
    x = specials("f32")
    t.case("low above high, special values", x, np.clip(x, np.inf, -np.inf), low=np.inf,
           high=-np.inf)
    t.case("empty", numbers("f32", (3, 0)), numbers("f32", (3, 0)), low=0.0)
