"""Activations."""

import numpy as np
import scipy.special

from cases import *
from unary import declare, unary


def at_infinity(function, low, high):
    """`function` where it computes inf - inf or 0 * inf: the limits there."""
    def limited(x):
        return np.where(x == -np.inf, low, np.where(x == np.inf, high, function(x)))
    return limited


silu = at_infinity(lambda x: x * scipy.special.expit(x), 0, np.inf)
gelu = at_infinity(lambda x: x * scipy.special.ndtr(x), 0, np.inf)
gelu_tanh = at_infinity(
    lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), 0, np.inf)

declare("silu", silu)
declare("softplus", lambda x: np.logaddexp(0, x))


def alpha(name, default, other, function):
    @operator(name)
    def cases(t):
        unary(t, lambda x: function(x, default), FLOATS)
        x = numbers("f64", (2, 3))
        t.case("another alpha", x, function(x, other), alpha=other)
        x = specials("f32")
        t.case("another alpha, special values", x, exact(lambda x: function(x, other), x),
               alpha=other)


alpha("leaky_relu", 0.01, 0.25, lambda x, a: np.where(x > 0, x, a * x))
alpha("elu", 1.0, 1.5, lambda x, a: np.where(x > 0, x, a * np.expm1(x)))


@operator("gelu")
def gelu_cases(t):
    unary(t, gelu, FLOATS)
    unary(t, gelu_tanh, FLOATS, approximate=True)
