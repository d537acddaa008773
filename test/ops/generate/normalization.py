"""Softmax and normalization."""

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
            if gamma is not None:
                y = y * affine.pop(0)
            return y + affine.pop(0) if beta is not None else y
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
    t.case("without gamma", {"x": x, "mean": m, "variance": v, "beta": b}, want(x, m, v, None, b))
    t.case("one gamma for all", [x, m, v, array(2, "f64"), b],
           want(x, m, v, array([2, 2, 2], "f64"), b))
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
    def want(x, axis=-1, eps=1e-5, gamma=None, beta=None, center=True):
        def f(x, *weights):
            weights = list(weights)
            axes = tuple(range(axis % x.ndim, x.ndim))
            if center:
                x = x - x.mean(axes, keepdims=True)
            y = x / np.sqrt((x * x).mean(axes, keepdims=True) + eps)
            if gamma is not None:
                y = y * weights.pop(0)
            return y + weights.pop(0) if beta is not None else y
        return exact(f, x, *[part for part in (gamma, beta) if part is not None])

    for dtype in FLOATS:
        x = numbers(dtype, (2, 5))
        gamma, beta = numbers(dtype, (5,), seed=1), numbers(dtype, (5,), seed=2)
        tol = {"f16": 4e-3, "bf16": 4e-2}.get(dtype)
        t.case(dtype, x, want(x))
        t.case(f"{dtype}: weights", [x, gamma, beta], want(x, gamma=gamma, beta=beta), tol=tol)
        t.case(f"{dtype}: not centered", x, want(x, center=False), center=False)
        for center in (True, False):
            x = array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [0, 1, 2]], dtype)
            t.case(f"{dtype}: nan and infinities, center is {center}", x, want(x, center=center),
                   center=center)
    x = numbers("f64", (2, 3, 4))
    gamma, beta = numbers("f64", (3, 4), seed=1), numbers("f64", (3, 4), seed=2)
    t.case("several axes together", x, want(x, 1), axis=1)
    t.case("several axes together, with weights", [x, gamma, beta],
           want(x, 1, gamma=gamma, beta=beta), axis=1)
    t.case("all", x, want(x, 0), axis=0)
    t.case("all, with weights, not centered", [x[0], gamma, beta],
           want(x[0], 0, gamma=gamma, beta=beta, center=False), axis=0, center=False)
    t.case("another eps", x, want(x, -2, 0.5), axis=-2, eps=0.5)
    t.case("gamma alone", [x, gamma[0]], want(x, gamma=gamma[0]))
    t.case("beta alone", {"x": x, "beta": beta[0]}, want(x, beta=beta[0]))
    t.case("one gamma for all", [x, array(-2, "f64"), beta[0]],
           want(x, gamma=array(-2, "f64"), beta=beta[0]))
    x = array(1e6 + np.arange(8), "f64")
    t.case("far from 0", x, want(x), tol=1e-10)
    x = array([2, 2, 2], "f32")
    t.case("all equal", x, array([0, 0, 0], "f32"))
    for shape in [(0,), (3, 0), (0, 3)]:
        x = numbers("f32", shape)
        row = numbers("f32", shape[-1:])
        t.case("empty " + "x".join(map(str, shape)), x, x)
        t.case("empty, with weights " + "x".join(map(str, shape)), [x, row, row], x)
    t.refused("gamma of another size", "the dims of gamma and beta must be those of a row",
              "standardize(zeros([2, 3]), zeros([2]))")
    t.refused("beta of one element", "'beta' must have the dims of x from 1 on",
              "standardize(zeros([2, 3]), zeros([3]), 0.0)")
