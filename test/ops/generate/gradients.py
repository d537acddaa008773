"""gradient, stop_gradient, which ends it, and lazy_rows."""

import numpy as np

from cases import *



@operator("gradient")
def gradient(t):
    for dtype in FLOATS:
        t.raw(f"{dtype}: a square",
              f"x = constant([1.0, -2.0, 0.5], dtype={dtype})",
              f"dx = gradient(x * x, constant([1.0, 2.0, 4.0], dtype={dtype}), x)",
              f"expect dx == constant([2.0, -8.0, 4.0], dtype={dtype})")
    t.raw("by three at once",
          "a = constant(2.0, dtype=f64)", "b = constant(3.0, dtype=f64)",
          "c = constant(5.0, dtype=f64)",
          "da, db, dc = gradient(a * b + b * c, constant(1.0, dtype=f64), a, b, c, count=3)",
          "expect da == constant(3.0, dtype=f64)", "expect db == constant(7.0, dtype=f64)",
          "expect dc == constant(3.0, dtype=f64)")
    t.raw("nan and infinities", "x = constant([nan, inf, -inf, 0.0], dtype=f32)",
          "dx = gradient(x * x, ones([4]), x)", "expect dx ~= [nan, inf, -inf, 0.0]")
    for dtype in FLOATS:
        t.raw(f"{dtype}: nan in dy", f"x = constant([1.0, 2.0, 3.0], dtype={dtype})",
              f"dx = gradient(x * 2.0, constant([nan, inf, -inf], dtype={dtype}), x)",
              f"expect dx ~= constant([nan, inf, -inf], dtype={dtype})")
    t.raw("empty", "x = zeros([0])", "dx = gradient(x * x, zeros([0]), x)",
          "expect dx ~= zeros([0])")
    t.raw("a size of 0", "x = zeros([2, 0])", "dx = gradient(x * x, zeros([2, 0]), x)",
          "expect dx ~= zeros([2, 0])")
    t.raw("what y does not depend on", "x = constant([1.0, 2.0], dtype=f32)",
          "dx = gradient(ones([2]), ones([2]), x)", "expect dx == [0.0, 0.0]")
    t.refused("another dtype", "must have the type of", "gradient(ones([2]), ones([2], dtype=f64), ones([2]))")
    t.refused("other sizes", "sizes differ", "gradient(ones([2]), ones([3]), ones([2]))")
    t.refused("a wrong count", "'count' must be the number of xs",
              "gradient(ones([2]), ones([2]), ones([2]), count=2)")
    t.refused("integers", "'y' must be", "gradient(ones([2], dtype=i64), ones([2], dtype=i64), ones([2]))")


@operator("stop_gradient")
def stop_gradient(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3)) if dtype != "bool" else array([[1, 0], [0, 1]], dtype)
        t.case(dtype, [x], x)
    for dtype in FLOATS:
        x = array([np.nan, np.inf, -np.inf, 0], dtype)
        t.case(f"{dtype}: nan and infinities", [x], x)
    for shape in [(0,), (2, 0)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), [x], x)
    t.raw("nothing flows", "x = constant([1.0, 2.0], dtype=f32)",
          "expect grad(sum(x * stop_gradient(x)), x) == [1.0, 2.0]")


@operator("lazy_rows")
def lazy_rows(t):
    for dtype in FLOATS:
        x = numbers(dtype, (2, 3))
        t.case(dtype, [x], x)
        x = array([np.nan, np.inf, -np.inf, 0], dtype)
        t.case(f"{dtype}: nan and infinities", [x], x)
    for shape in [(), (0,), (2, 0)]:
        x = numbers("f32", shape)
        t.case("dims " + "x".join(map(str, shape)), [x], x)
    t.raw("flows", "x = constant([1.0, 2.0], dtype=f32)",
          "expect grad(sum(x * lazy_rows(x)), x) == [2.0, 4.0]")
    t.refused("integers", "'x' must be", "lazy_rows(ones([2], dtype=i64))")
