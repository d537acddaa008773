"""More operators over axes."""

import numpy as np
import scipy.special

from cases import *
from reductions import reduction


@operator("prod")
def prod(t):
    reduction(t, np.prod, ALL, 1, integers="i64")
    x = array([[2, 0, 3], [0, 5, 0], [1, 2, 4]], "f64")
    t.case("with zeros", x, exact(lambda x: np.prod(x, axis=1), x), axes=[1])
    x = numbers("f64", (2, 3, 4), 0.5, 2)
    t.case("two axes, not neighbours", x, exact(lambda x: np.prod(x, axis=(0, 2)), x), axes=[0, 2])


def truth(name, function, empty):
    @operator(name)
    def cases(t):
        for dtype in ALL:
            x = array([[0, 0, 0], [0, 1, 0], [1, 1, 1]], dtype)
            t.case(dtype, x, np.asarray(function(x, axis=1)), axes=[1])
            t.case(f"{dtype}, all axes", x, np.asarray(function(x, axis=None)))
        x = array([[np.nan, 0], [np.inf, -np.inf], [-0.0, 0.0]], "f32")
        t.case("nan, infinities, zeros", x, function(x, axis=1), axes=[1])
        x = numbers("bool", (2, 3, 4))
        t.case("negative axes", x, function(x, axis=(0, 2)), axes=[-1, 0])
        t.case("axes kept", x, function(x, axis=1, keepdims=True), axes=[1], keep=True)
        t.case("the first axis", x, function(x, axis=0), axes=[0])
        t.case("nothing", numbers("f32", (0,)), np.asarray(empty))
        t.case("nothing along an axis", numbers("f32", (2, 0)), np.asarray([empty] * 2), axes=[1])
        t.case("no rows", numbers("f32", (2, 0)), np.zeros(0, np.asarray(empty).dtype), axes=[0])


truth("any", lambda x, **k: np.any(x != 0, **k), False)
truth("all", lambda x, **k: np.all(x != 0, **k), True)
truth("count_nonzero", lambda x, **k: np.asarray(np.count_nonzero(x, **k), np.int64), np.int64(0))


def logsumexp_of(x, axis=None, keepdims=False):
    if x.size == 0:
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)


@operator("logsumexp")
def logsumexp(t):
    reduction(t, logsumexp_of, FLOATS, -np.inf)
    x = array([[1000, 1000], [-1000, -1001], [-np.inf, -np.inf], [88, -88]], "f32")
    t.case("large and small", x, exact(lambda x: logsumexp_of(x, axis=1), x), axes=[1])
    t.case("large and small, columns", x.T.copy(), exact(lambda x: logsumexp_of(x, axis=1), x),
           axes=[0])


def spread(name, function):
    @operator(name)
    def cases(t):
        reduction(t, function, FLOATS, np.nan)
        x = numbers("f64", (3, 4))
        for ddof in (1, 2):
            t.case(f"ddof {ddof}", x, exact(lambda x: function(x, axis=1, ddof=ddof), x), axes=[1],
                   ddof=ddof)
        for dtype in FLOATS:
            for value in (0.1, 1000.1, -3.3e4):
                # Sums of equal numbers are rounded, so NumPy's result is not 0.
                x = np.full((3, 37), array(value, dtype), DTYPES[dtype])
                t.case(f"{dtype}, all {value}", x, array([0, 0, 0], dtype), axes=[1])
                t.case(f"{dtype}, columns, all {value}", x, np.zeros(37, DTYPES[dtype]), axes=[0])
        x = array([[1e4, 1e4 + 1, 1e4 + 2]], "f32")
        t.case("far from 0", x, exact(lambda x: function(x, axis=1), x), axes=[1])
        x = numbers("f32", (1, 3))
        t.case("one element, ddof 1", x, array([np.nan] * 3, "f32"), axes=[0], ddof=1)


spread("variance", np.var)
spread("std", np.std)


@operator("argmin")
def argmin(t):
    for dtype in ALL:
        x = numbers(dtype, (3, 4), -2, 2)
        x[0, 1] = x[0, 3] = x[0].min()
        t.case(dtype, x, np.argmin(x, axis=-1))
        t.case(f"{dtype}, columns", x, np.argmin(x, axis=0), axis=0)
    x = array([[1, np.nan, -np.inf, np.nan], [np.inf, 2, -np.inf, -np.inf], [0.0, -0.0, 0.0, 1]],
              "f32")
    t.case("nan, infinities, zeros", x, np.argmin(x, axis=1))
    x = numbers("f64", (2, 3, 4))
    t.case("an axis kept", x, np.argmin(x, axis=1, keepdims=True), axis=1, keep=True)
    t.case("a negative axis", x, np.argmin(x, axis=-2), axis=-2)
    t.case("no rows", numbers("f32", (0, 3)), np.zeros((0,), np.int64))
    t.case("an empty tensor", numbers("f32", (2, 0, 3)), np.zeros((2, 0), np.int64), axis=2)
    t.refused("an empty axis", "the axis must not be empty", "argmin(zeros([2, 0]))")
    t.refused("no such axis", "axis", "argmin(zeros([2, 3]), axis=2)")


def recurrence(x, decay, axis=-1, reverse=False):
    x, decay = np.moveaxis(x, axis, 0), np.moveaxis(decay, axis, 0)
    if reverse:
        x, decay = x[::-1], decay[::-1]
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] + (decay[i] * y[i - 1] if i > 0 else 0)
    return np.moveaxis(y[::-1] if reverse else y, 0, axis)


@operator("linear_recurrence")
def linear_recurrence(t):
    for dtype in FLOATS:
        x, decay = numbers(dtype, (2, 5)), numbers(dtype, (2, 5), -1, 1, seed=1)
        t.case(dtype, [x, decay], exact(recurrence, x, decay))
    x, decay = numbers("f64", (2, 4, 3)), numbers("f64", (2, 4, 3), -1, 1, seed=1)
    t.case("a middle axis", [x, decay], exact(lambda x, d: recurrence(x, d, 1), x, decay), axis=1)
    t.case("reverse", [x, decay],
           exact(lambda x, d: recurrence(x, d, -2, True), x, decay), axis=-2, reverse=True)
    x = array([1, np.inf, 2, -np.inf, np.nan, 1], "f32")
    decay = array([np.nan, 0.5, 0.5, 0.5, 1, 0.5], "f32")
    t.case("nan and infinities", [x, decay], exact(recurrence, x, decay))
    x, decay = numbers("f32", (1, 600), -1, 1), numbers("f32", (1, 600), -1, 1, seed=1)
    t.case("long", [x, decay], exact(recurrence, x, decay), tol=1e-5)
    for shape in [(0,), (2, 0), (0, 3)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), [x, x], x)
    t.refused("another rank", "ranks differ", "linear_recurrence(zeros([2, 3]), zeros([3]))")
    t.refused("other sizes", "sizes differ", "linear_recurrence(zeros([2]), zeros([3]))")
    t.refused("no such axis", "axis", "linear_recurrence(zeros([3]), zeros([3]), axis=1)")
