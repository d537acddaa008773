"""Losses."""

import numpy as np

from cases import *
from normalization import log_softmax_of


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
    x, label = array([-500, 500, -500], "f32"), array([1, 1, 0], "f32")
    t.case("sure logits", [x, label], array([500, 0, 0], "f32"), logits=True)
    for dtype in FLOATS:
        # Terms that the label multiplies by 0 contribute 0, even for infinite logits.
        x = array([np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf, np.nan, np.nan], dtype)
        label = array([0, 1, 0.5, 0, 1, 0.5, 0, 1], dtype)
        t.case(f"{dtype}, infinite logits", [x, label],
               array([np.inf, 0, np.inf, 0, np.inf, np.inf, np.nan, np.nan], dtype), logits=True)
    # x - x * label would cancel.
    x, label = array([50, 20], "f32"), array([0.9990234375, 0.99609375], "f32")
    t.case("nearly sure labels", [x, label],
           exact(lambda x, y: x * (1 - y) + np.log1p(np.exp(-x)), x, label), logits=True)
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
