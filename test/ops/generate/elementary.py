"""Elementary functions: trigonometric, hyperbolic, exponential; of one input and of two."""

import numpy as np
import scipy.special

from binary import binary
from cases import *
from unary import declare, unary

declare("asin", np.arcsin, low=-0.9, high=0.9)
declare("acos", np.arccos, low=-0.9, high=0.9)
declare("atan", np.arctan)
declare("sinh", np.sinh)
declare("cosh", np.cosh)
declare("asinh", np.arcsinh)
declare("acosh", np.arccosh, low=1.25, high=4)
declare("atanh", np.arctanh, low=-0.9, high=0.9)
declare("exp2", np.exp2)
declare("expm1", np.expm1)
declare("log2", np.log2, low=0.25, high=4)
declare("log10", np.log10, low=0.25, high=4)
declare("log1p", np.log1p, low=-0.75, high=4)
declare("cbrt", np.cbrt, low=0.25, high=4)
declare("erfc", scipy.special.erfc)
declare("square", np.square, NUMBERS)
declare("trunc", np.trunc)
declare("isfinite", np.isfinite, result="bool")


@operator("tan")
def tan(t):
    unary(t, np.tan, FLOATS, low=-1.25, high=1.25)
    x = array([1e4, -1e6, 1e9, 3e38], "f32")
    t.case("large arguments", x, exact(np.tan, x))


@operator("atan2")
def atan2(t):
    binary(t, np.arctan2, FLOATS)


@operator("hypot")
def hypot(t):
    binary(t, np.hypot, FLOATS)
    x = array([1e30, 1e-30, 3e38], "f32")
    t.case("no overflow", [x, x], exact(np.hypot, x, x))


@operator("logaddexp")
def logaddexp(t):
    binary(t, np.logaddexp, FLOATS)
    x, y = array([1e30, -1e30, 88, -200], "f32"), array([1e30, 5, -200, -201], "f32")
    t.case("no overflow", [x, y], exact(np.logaddexp, x, y))


def c_remainder(x, y):
    if x.dtype.kind != "f":
        return np.where(y == 0, 0, np.fmod(x, np.where(y == 0, 1, y)))
    return np.fmod(x, y)


@operator("fmod")
def fmod(t):
    binary(t, c_remainder, NUMBERS)
    x, y = numbers("f64", (6,)), numbers("f64", (6,), 0.6, 2, seed=1)
    t.case("not near a multiple", [x + 0.03125 * 0.3, y], exact(np.fmod, x + 0.03125 * 0.3, y))
