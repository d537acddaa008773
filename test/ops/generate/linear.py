"""Linear algebra."""

import numpy as np

from cases import *


def matmul(a, b, transpose_a=False, transpose_b=False):
    if transpose_a:
        a = np.swapaxes(a, -1, -2)
    if transpose_b:
        b = np.swapaxes(b, -1, -2)
    return np.matmul(a, b)


@operator("matmul")
def matmul_cases(t):
    for dtype in NUMBERS:
        a, b = numbers(dtype, (2, 3)), numbers(dtype, (3, 2), seed=1)
        t.case(dtype, [a, b], exact(matmul, a, b))
    for name, a, b, flags in [
            ("a is transposed", (3, 2), (3, 4), {"transpose_a": True}),
            ("b is transposed", (2, 3), (4, 3), {"transpose_b": True}),
            ("both", (3, 2), (4, 3), {"transpose_a": True, "transpose_b": True}),
            ("a batch times one", (2, 2, 3), (3, 2), {}),
            ("a batch times one transposed", (2, 2, 3), (2, 3), {"transpose_b": True}),
            ("a transposed batch times one", (2, 3, 2), (3, 2), {"transpose_a": True}),
            ("batches broadcast", (2, 1, 2, 3), (2, 3, 2), {}),
            ("vectors", (3,), (3,), {}),
            ("a vector and a matrix", (3,), (3, 2), {}),
            ("a batch times a vector", (2, 2, 3), (3,), {}),
            ("a vector times a batch", (3,), (2, 3, 2), {}),
            ("no rows", (0, 3), (3, 2), {}),
            ("no columns", (2, 3), (3, 0), {}),
            ("nothing inside", (2, 0), (0, 3), {}),
            ("an empty batch", (0, 2, 3), (3, 2), {})]:
        for dtype in ["f32", "f64"]:
            x, y = numbers(dtype, a), numbers(dtype, b, seed=1)
            t.case(f"{name}, {dtype}", [x, y], exact(lambda x, y: matmul(x, y, **flags), x, y),
                   **flags)
    for dtype in FLOATS:
        a = array([[np.nan, 1], [np.inf, 0], [-np.inf, 1], [1, 1]], dtype)
        b = array([[1, 0], [2, np.inf]], dtype)
        t.case(f"{dtype}: nan and infinities", [a, b], exact(matmul, a, b))
    x, y = numbers("f32", (9, 33), -1, 1), numbers("f32", (33, 17), -1, 1, seed=1)
    t.case("larger", [x, y], exact(np.matmul, x, y), tol=1e-5)
    t.refused("inner sizes differ", "inner", "matmul(zeros([2, 3]), zeros([2, 3]))")


@operator("cos_sim")
def cos_sim(t):
    def want(x, y, scale=1.0):
        def f(x, y):
            length = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
            return scale * (x * y).sum(-1) / length
        return exact(f, x, y)

    for dtype in FLOATS:
        x, y = numbers(dtype, (2, 4)), numbers(dtype, (2, 4), seed=1)
        t.case(dtype, [x, y], want(x, y))
        x = array([[np.nan, 1], [np.inf, 1], [-np.inf, 1]], dtype)
        y = np.ones_like(x)
        t.case(f"{dtype}: nan and infinities", [x, y], want(x, y))
    x, y = numbers("f64", (2, 4)), numbers("f64", (2, 4), seed=1)
    t.case("scaled", [x, y], want(x, y, 2.5), scale=2.5)
    x, y = numbers("f64", (4,)), numbers("f64", (4,), seed=1)
    t.case("vectors", [x, y], want(x, y))
    x = array([[3, 4], [1, 0], [1, 2]], "f32")
    t.case("along, across, against", [x, array([[6, 8], [0, 2], [-1, -2]], "f32")],
           array([1, 0, -1], "f32"))
    x = array([[0, 0], [1, 2]], "f32")
    t.case("a row of zeros is across to all", [x, x[::-1]], array([0, 0], "f32"))
    x, y = array([[1e300, 1e300], [1e-300, 0]], "f64"), array([[1e300, 0], [1e-300, 1e-300]], "f64")
    t.case("huge and tiny rows", [x, y], array([0.5**0.5] * 2, "f64"))
    x = numbers("f32", (0, 3))
    t.case("no rows", [x, x], array(np.zeros(0), "f32"))


def scan(t, function, exclusive):
    def want(x, axis=-1, excluded=False, reverse=False):
        def f(x):
            x = np.flip(x, axis) if reverse else x
            y = function(x, axis)
            if excluded:
                y = np.roll(y, 1, axis)
                if y.shape[axis] > 0:
                    index = [slice(None)] * y.ndim
                    index[axis] = 0
                    y[tuple(index)] = exclusive
            return np.flip(y, axis) if reverse else y
        return exact(f, x)

    for dtype in NUMBERS:
        x = numbers(dtype, (2, 4))
        t.case(dtype, x, want(x))
    for dtype in FLOATS:
        x = array([[1, np.nan, 2], [np.inf, 1, -np.inf], [-np.inf, 2, 1]], dtype)
        t.case(f"{dtype}: nan and infinities", x, want(x))
    x = numbers("f64", (2, 3, 2), 0.5, 2)
    t.case("f64 along the last axis", x, want(x))
    t.case("another axis", x, want(x, 1), axis=1)
    t.case("exclusive", x, want(x, 1, True), axis=1, exclusive=True)
    t.case("reverse", x, want(x, 0, False, True), axis=0, reverse=True)
    t.case("exclusive and reverse", x, want(x, -2, True, True), axis=-2, exclusive=True,
           reverse=True)
    for shape in [(0,), (3, 0), (0, 3)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), x, x)


@operator("cumsum")
def cumsum(t):
    scan(t, np.cumsum, 0)


@operator("cumprod")
def cumprod(t):
    scan(t, np.cumprod, 1)
