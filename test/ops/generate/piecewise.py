"""More activations: those of straight pieces, and smooth ones."""

import numpy as np
import scipy.special

from activations import at_infinity
from binary import binary
from cases import *
from unary import declare, unary

declare("mish", at_infinity(lambda x: x * np.tanh(np.logaddexp(0, x)), 0, np.inf))
declare("log_sigmoid", lambda x: -np.logaddexp(0, -x))
declare("softsign", at_infinity(lambda x: x / (1 + np.abs(x)), -1, 1))

# The digits that PyTorch has.
SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
declare("selu", lambda x: np.where(x > 0, SCALE * x, SCALE * ALPHA * np.expm1(x)))
declare("hard_swish", at_infinity(lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 0, np.inf))


def piecewise(name, function, *others):
    """`others`: attributes to try besides the defaults."""
    @operator(name)
    def cases(t):
        unary(t, function, FLOATS)
        for attributes in others:
            said = ", ".join(f"{key} {value}" for key, value in attributes.items())
            x = numbers("f64", (2, 3))
            t.case(said, x, exact(lambda x: function(x, **attributes), x), **attributes)
            x = specials("f32")
            t.case(f"{said}: nan, infinities and zeros", x,
                   exact(lambda x: function(x, **attributes), x), **attributes)
    return cases


piecewise("celu", lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
          {"alpha": 2.0})
piecewise("hard_sigmoid", lambda x, alpha=1 / 6, beta=0.5: np.clip(alpha * x + beta, 0, 1),
          {"alpha": 0.2}, {"beta": 0.25}, {"alpha": 0.5, "beta": 0.0})
piecewise("thresholded_relu", lambda x, alpha=1.0: np.where(x <= alpha, 0, x), {"alpha": 0.3125})


def shrink(x, threshold=0.5, bias=0.0):
    y = np.where(x < -threshold, x + bias, np.where(x > threshold, x - bias, 0))
    return np.where(np.isnan(x), x, y)


piecewise("shrink", shrink, {"threshold": 1.53125}, {"bias": 0.25}, {"threshold": 0.9, "bias": 0.9})


@operator("prelu")
def prelu(t):
    def function(x, slope):
        with np.errstate(all="ignore"):
            return np.where(x < 0, slope * x, x)
    binary(t, function, FLOATS)
