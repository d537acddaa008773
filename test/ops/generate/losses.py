"""Softmax, normalization and losses."""

import numpy as np
import scipy.special
import torch

from cases import *


def along(t, function, low, high):
    def want(x, axis=-1):
        return exact(lambda x: function(x, axis), x)

    for dtype in FLOATS:
        x = numbers(dtype, (2, 4))
        t.case(dtype, x, want(x))
        x = array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3, [np.inf] * 3],
                  dtype)
        t.case(f"{dtype}: nan and infinities", x, want(x))
    x = numbers("f64", (2, 3, 4))
    t.case("another axis", x, want(x, 1), axis=1)
    t.case("a negative axis", x, want(x, -3), axis=-3)
    x = array([1000, 1001, 999], "f32")
    t.case("large numbers", x, want(x))
    x = array([-1000, 0, -2000], "f64")
    t.case("far apart", x, want(x))
    for shape in [(0,), (3, 0), (0, 3)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), x, x)
    x = numbers("f32", (2, 1))
    t.case("of one", x, want(x))


@operator("softmax")
def softmax(t):
    along(t, lambda x, axis: scipy.special.softmax(x, axis), 0, 1)


def log_softmax_of(x, axis):
    # PyTorch's: all nan where the largest is inf; SciPy has limits of its own there.
    return torch.log_softmax(torch.from_numpy(np.ascontiguousarray(x)), axis).numpy()


@operator("log_softmax")
def log_softmax(t):
    along(t, log_softmax_of, -np.inf, 0)


def row(values, axis, rank):
    """A vector as a tensor that broadcasts along `axis`."""
    shape = [1] * rank
    shape[axis] = len(values)
    return values.reshape(shape)


@operator("normalize")
def normalize(t):
    def want(x, mean, variance, gamma=None, beta=None, axis=1, eps=1e-5):
        def f(x, *rest):
            m, v, *affine = [row(part, axis, x.ndim) for part in rest]
            y = (x - m) / np.sqrt(v + eps)
            if affine:
                y = y * affine[0]
            return y + affine[1] if len(affine) > 1 else y
        rest = [part for part in (gamma, beta) if part is not None]
        return exact(f, x, mean, variance, *rest)

    def parts(dtype, n):
        return [numbers(dtype, (n,), low, high, seed=i)
                for i, (low, high) in enumerate([(-1, 1), (0.5, 2), (-2, 2), (-1, 1)])]

    for dtype in FLOATS:
        x = numbers(dtype, (2, 3, 2))
        inputs = [x] + parts(dtype, 3)
        t.case(dtype, inputs, want(*inputs), tol={"f16": 4e-3, "bf16": 4e-2}.get(dtype))
        x = array([[np.nan, np.inf, -np.inf], [1, 2, 3]], dtype)
        inputs = [x] + parts(dtype, 3)
        t.case(f"{dtype}: nan and infinities", inputs, want(*inputs),
               tol={"f16": 4e-3, "bf16": 4e-2}.get(dtype))
    x = numbers("f64", (2, 3, 2))
    m, v, g, b = parts("f64", 3)
    t.case("without gamma and beta", [x, m, v], want(x, m, v))
    t.case("without beta", [x, m, v, g], want(x, m, v, g))
    t.case("another eps", [x, m, v, g, b], want(x, m, v, g, b, eps=0.5), eps=0.5)
    m, v, g, b = parts("f64", 2)
    t.case("another axis", [x, m, v, g, b], want(x, m, v, g, b, axis=-1), axis=-1)
    t.case("the first axis", [x, m, v, g, b], want(x, m, v, g, b, axis=0), axis=0)
    x = numbers("f32", (0, 3))
    m, v, g, b = parts("f32", 3)
    t.case("empty", [x, m, v, g, b], x)
    x = numbers("f32", (2, 0))
    m = numbers("f32", (0,))
    t.case("no channels", [x, m, m], x)
    x = numbers("f32", (4,))
    m, v, g, b = parts("f32", 4)
    t.case("a vector", [x, m, v, g, b], want(x, m, v, g, b, axis=0), axis=0)


@operator("standardize")
def standardize(t):
    def want(x, axis=-1, eps=1e-5):
        def f(x):
            axes = tuple(range(axis % x.ndim, x.ndim))
            return (x - x.mean(axes, keepdims=True)) / np.sqrt(
                x.var(axes, keepdims=True) + eps)
        return exact(f, x)

    for dtype in FLOATS:
        x = numbers(dtype, (2, 5))
        t.case(dtype, x, want(x))
        x = array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [0, 1, 2]], dtype)
        t.case(f"{dtype}: nan and infinities", x, want(x))
    x = numbers("f64", (2, 3, 4))
    t.case("several axes together", x, want(x, 1), axis=1)
    t.case("all", x, want(x, 0), axis=0)
    t.case("another eps", x, want(x, -2, 0.5), axis=-2, eps=0.5)
    x = array(1e6 + np.arange(8), "f64")
    t.case("far from 0", x, want(x), tol=1e-10)
    x = array([2, 2, 2], "f32")
    t.case("all equal", x, array([0, 0, 0], "f32"))
    for shape in [(0,), (3, 0), (0, 3)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), x, x)


@operator("cross_entropy")
def cross_entropy(t):
    def want(logits, label):
        def f(logits):
            picked = np.take_along_axis(log_softmax_of(logits, -1),
                                        label.astype(np.int64)[..., None], -1)
            return -picked[..., 0]
        return exact(f, logits)

    for dtype in FLOATS:
        logits, label = numbers(dtype, (3, 4)), array([0, 3, 1], "i64")
        t.case(dtype, [logits, label], want(logits, label))
        logits = array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [1, np.inf, 2]], dtype)
        label = array([1, 1, 1, 1], "i64")
        t.case(f"{dtype}: nan and infinities", [logits, label], want(logits, label))
    logits, label = numbers("f64", (2, 2, 3)), array([[0, 2], [1, 1]], "i32")
    t.case("i32 labels, more dims", [logits, label], want(logits, label))
    t.case("a vector", [logits[0, 0], np.int64(2) * np.ones((), np.int64)],
           want(logits[0, 0], np.asarray(2)))
    t.case("a label outside", [logits[0], array([3, 1], "i64")],
           array([np.nan, want(logits[0], array([0, 1], "i64"))[1]], "f64"))
    t.case("large numbers", [array([[1000, 0]], "f32"), array([1], "i64")], array([1000], "f32"))
    t.case("empty", [numbers("f32", (0, 3)), array(np.zeros(0, int), "i64")],
           array(np.zeros(0), "f32"))


@operator("binary_cross_entropy")
def binary_cross_entropy(t):
    def want(p, label):
        return exact(lambda p, y: -(y * np.maximum(np.log(p), -100) +
                                    (1 - y) * np.maximum(np.log(1 - p), -100)), p, label)

    def from_logits(x, label):
        return exact(lambda x, y: np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x))), x, label)

    for dtype in FLOATS:
        p, label = numbers(dtype, (2, 3), 0.1, 0.9), numbers(dtype, (2, 3), 0, 1, seed=1)
        t.case(dtype, [p, label], want(p, label), tol={"f16": 2e-3}.get(dtype))
        x = numbers(dtype, (2, 3))
        t.case(f"{dtype}, logits", [x, label], from_logits(x, label), logits=True)
    p, label = array([0, 1, 0, 1, 0.5], "f32"), array([0, 1, 1, 0, 0.5], "f32")
    t.case("sure", [p, label], array([0, 0, 100, 100, np.log(2)], "f32"))
    for dtype in FLOATS:
        p, label = array([np.nan, 0.5], dtype), array([0.5, np.nan], dtype)
        t.case(f"{dtype}: nan", [p, label], array([np.nan, np.nan], dtype))
    p, label = array([np.inf, -np.inf], "f32"), array([0.5, 0.5], "f32")
    t.case("infinities", [p, label], want(p, label))
    p, label = numbers("f64", (2, 3), 0.1, 0.9), numbers("f64", (3,), 0, 1)
    t.case("broadcasts", [p, label], want(p, label))
    for shape in [(0,), (0, 3)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), [x, x], x)


@operator("mse")
def mse(t):
    def want(x, y):
        return exact(lambda x, y: np.mean((x - y)**2), x, y)

    for dtype in FLOATS:
        x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 3), seed=1)
        t.case(dtype, [x, y], want(x, y))
        for value in [np.nan, np.inf, -np.inf]:
            x = array([1, value], dtype)
            t.case(f"{dtype}: {literal(np.float64(value))}", [x, array([1, 2], dtype)],
                   want(x, array([1, 2], dtype)))
    x, y = numbers("f64", (2, 3, 2)), numbers("f64", (2, 3, 2), seed=1)
    t.case("more dims", [x, y], want(x, y))
    nothing = array(np.nan, "f32")
    t.case("empty", [numbers("f32", (0,))] * 2, nothing)
    t.case("a size of 0", [numbers("f32", (3, 0))] * 2, nothing)
