"""Operators that draw at random: what must hold of their numbers."""

import numpy as np

from cases import *


@operator("bernoulli")
def bernoulli(t):
    for dtype in FLOATS:
        x = array([0, 1, np.nan, np.inf, -np.inf, 2, -1], dtype)
        t.case(f"{dtype}: what is certain", x, array([0, 1, 0, 1, 0, 1, 0], dtype))
    for dtype in ALL:
        t.case(f"as {dtype}", array([1, 0], "f32"), array([1, 0], dtype), dtype=Dim(dtype))
    for shape in [(0,), (2, 0)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), x, x)
    for dtype in FLOATS:
        t.raw(f"{dtype}: as often as it says",
              f"x = bernoulli(cast(fill([20000], value=0.3), to={dtype}), dtype=f32)",
              "expect all(x == 0.0 or x == 1.0)", "expect abs(mean(x) - 0.3) < 0.02")
    t.raw("each element has a probability of its own",
          "x = bernoulli(broadcast_to([0.1, 0.9], [20000, 2]))",
          "expect mean(x, axes=[0]) ~= [0.1, 0.9] tol 0.02")
    one_stream(t, "bernoulli(fill([100], value=0.5))")
    t.raw("calls differ", "p = fill([100], value=0.5)", "a = bernoulli(p)", "b = bernoulli(p)",
          "expect any(a != b)")
    t.refused("integers", "'x' must be", "bernoulli(cast([1, 0], to=i64))")


@operator("randperm")
def randperm(t):
    for n in (0, 1, 2, 3, 5, 16, 17, 1000):
        t.raw(f"each of {n} once", f"x: i64[{n}] = randperm({n})",
              f"expect all(sum(cast(x[:, none] == range(0, {n})[none, :], to=i64), axes=[0]) == 1)")
    t.raw("no size", f"x: i64[0] = randperm(0)", "expect sum(x) == 0")
    t.raw("in another order", "expect any(randperm(100) != range(0, 100))")
    one_stream(t, "randperm(100)")
    t.raw("calls differ", "a = randperm(100)", "b = randperm(100)", "expect any(a != b)")
    t.refused("two sizes", "one size", "randperm([2, 3])")
    t.refused("a negative size", "negative", "randperm(-1)")


@operator("orthogonal")
def orthogonal(t):
    for dtype, tol in (("f32", 1e-5), ("f64", 1e-12), ("f16", 2e-2), ("bf16", 6e-2)):
        t.raw(f"{dtype}: rows", f"w: {dtype}[3, 5] = orthogonal([3, 5], dtype={dtype})",
              f"expect w @ transpose(w) ~= cast([[1, 0, 0], [0, 1, 0], [0, 0, 1]], to={dtype}) "
              f"tol {tol}")
        t.raw(f"{dtype}: columns", f"w: {dtype}[4, 2] = orthogonal([4, 2], dtype={dtype})",
              f"expect transpose(w) @ w ~= cast([[1, 0], [0, 1]], to={dtype}) tol {tol}")
    t.raw("a square", "w = orthogonal([40, 40])",
          "one = cast(range(0, 40)[:, none] == range(0, 40)[none, :], to=f32)",
          "expect w @ transpose(w) ~= one tol 1e-5", "expect transpose(w) @ w ~= one tol 1e-5")
    one_stream(t, "orthogonal([3, 5])")
    t.raw("gain", "w = orthogonal([2, 7], gain=3.0)",
          "expect w @ transpose(w) ~= [[9.0, 0.0], [0.0, 9.0]] tol 1e-5")
    t.raw("a gain of 0", "expect orthogonal([2, 2], gain=0.0) == 0.0")
    t.raw("the weight of a convolution", "w = reshape(orthogonal([4, 3, 2, 2]), [4, 12])",
          "one = cast(range(0, 4)[:, none] == range(0, 4)[none, :], to=f32)",
          "expect w @ transpose(w) ~= one tol 1e-5")
    t.raw("no direction is preferred", "w = orthogonal([300, 300])",
          "expect abs(mean(w)) < 0.005", "expect abs(mean(square(w)) - 1.0 / 300.0) < 1e-6")
    t.raw("calls differ", "a = orthogonal([3, 3])", "b = orthogonal([3, 3])", "expect any(a != b)")
    t.raw("empty", "w: f32[0, 3] = orthogonal([0, 3])", "expect sum(w) == 0.0")
    t.raw("no columns", "w: f32[3, 0] = orthogonal([3, 0])", "expect sum(w) == 0.0")
    t.refused("one size", "two sizes or more", "orthogonal([3])")
    t.refused("no finite gain", "finite", "orthogonal([3, 3], gain=inf)")
