"""Elementwise operators of two inputs, comparisons and logic."""

import numpy as np

from cases import *


def pairs(dtype):
    """Each special value with each other."""
    x = array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], dtype)
    return np.repeat(x, len(x)), np.tile(x, len(x))


def binary(t, function, dtypes, low=-3, high=3, result=None, specials_of=FLOATS):
    """Each dtype; every pair of special values; broadcasting; empty tensors. `function` is NumPy's."""
    def want(*arrays):
        return exact(function, *arrays, dtype=result)

    for dtype in dtypes:
        x, y = numbers(dtype, (2, 3), low, high), numbers(dtype, (2, 3), low, high, seed=1)
        if not is_float(dtype) and dtype != "bool":
            y[0, 0] = x[0, 0]
        t.case(dtype, [x, y], want(x, y))
        if dtype in specials_of:
            x, y = pairs(dtype)
            t.case(f"{dtype}: pairs of special values", [x, y], want(x, y))
        if dtype in INTS:
            info = np.iinfo(DTYPES[dtype])
            x = array([info.min, info.min, info.max, info.max, info.max, 0], dtype)
            y = array([info.min, -1, info.max, 2, 0, info.max], dtype)
            t.case(f"{dtype}: the ends of its range", [x, y], want(x, y))
    first = dtypes[0]
    for name, shapes in [("rows", ((2, 3), (3,))), ("columns", ((2, 3), (2, 1))),
                         ("both ways", ((2, 1), (1, 3))), ("a scalar", ((), (2, 3))),
                         ("more axes", ((2, 1, 2), (3, 1)))]:
        dtype = "f64" if "f64" in dtypes else first
        x = numbers(dtype, shapes[0], low, high)
        y = numbers(dtype, shapes[1], low, high, seed=1)
        t.case(f"broadcasts {name}", [x, y], want(x, y))
    for name, shapes in [("empty", ((0,), (0,))), ("no rows", ((0, 3), (3,))),
                         ("no columns", ((2, 0), (2, 1))), ("empty and a scalar", ((0, 2), ()))]:
        x, y = numbers(first, shapes[0], low, high), numbers(first, shapes[1], low, high)
        t.case(name, [x, y], want(x, y))


def declare(name, function, dtypes=NUMBERS, **options):
    @operator(name)
    def cases(t):
        binary(t, function, dtypes, **options)


def floor_div(x, y):
    if x.dtype.kind != "f":
        return np.where(y == 0, 0, np.floor_divide(x, np.where(y == 0, 1, y)))
    return np.floor_divide(x, y)


def mod(x, y):
    if x.dtype.kind != "f":
        return np.where(y == 0, 0, np.mod(x, np.where(y == 0, 1, y)))
    return np.mod(x, y)


declare("add", np.add)
declare("sub", np.subtract)
declare("mul", np.multiply)
declare("div", np.divide, FLOATS)
declare("floor_div", floor_div)
declare("mod", mod)
declare("maximum", np.maximum)
declare("minimum", np.minimum)
declare("greater", np.greater, result="bool")
declare("greater_equal", np.greater_equal, result="bool")
declare("less", np.less, result="bool")
declare("less_equal", np.less_equal, result="bool")
declare("equal", np.equal, NUMBERS + ["bool"], result="bool")
declare("not_equal", np.not_equal, NUMBERS + ["bool"], result="bool")
declare("logical_and", np.logical_and, ["bool"], result="bool")
declare("logical_or", np.logical_or, ["bool"], result="bool")


@operator("pow")
def pow_cases(t):
    binary(t, np.power, FLOATS, low=0.25, high=3)
    x, y = numbers("f64", (6,)), array([2, 3, -1, 0, -2, 1], "f64")
    t.case("negative numbers to whole powers", [x, y], np.power(x, y))
    for dtype in INTS:
        x = numbers(dtype, (2, 3))
        y = array([[0, 1, 2], [3, 4, 5]], dtype)
        t.case(dtype, [x, y], exact(np.power, x, y))


    t.case("integers to powers below 0 are 0, but for 1 and -1",
           [array([2, 1, -1, -1, -7], "i32"), array([-1, -5, -3, -2, -1], "i32")],
           array([0, 1, -1, 1, 0], "i32"))
    t.case("integers wrap around", [array([7, -3], "i32"), array([30, 33], "i32")],
           wrapped([7**30, (-3)**33]))


def wrapped(values):
    return np.array([(v + 2**31) % 2**32 - 2**31 for v in values], np.int32)


@operator("logical_not")
def logical_not(t):
    x = numbers("bool", (2, 3))
    t.case("bool", x, ~x)
    t.case("empty", x[:0], x[:0])
    t.case("empty, one axis", x[0, :0], x[0, :0])


@operator("where")
def where(t):
    for dtype in ALL:
        c = numbers("bool", (2, 3))
        x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 3), seed=1)
        t.case(dtype, [c, x, y], np.where(c, x, y))
    c, x = numbers("bool", (7,)), specials("f32")
    t.case("special values pass", [c, x, x[::-1]], np.where(c, x, x[::-1]))
    x, y = numbers("f64", (2, 1)), numbers("f64", ())
    c = numbers("bool", (3,))
    t.case("broadcasts", [c, x, y], np.where(c, x, y))
    c, x = np.zeros((0, 3), bool), numbers("f32", (3,))
    t.case("empty", [c, x, x], np.where(c, x, x))


@operator("add_n")
def add_n(t):
    for dtype in NUMBERS:
        x = [numbers(dtype, (2, 3), seed=i) for i in range(3)]
        t.case(dtype, x, exact(lambda a, b, c: a + b + c, *x))
    x = specials("f32")
    t.case("special values", [x, x[::-1].copy()], exact(np.add, x, x[::-1]))
    x = [numbers("f64", shape, seed=i) for i, shape in enumerate([(2, 3), (3,), (2, 1), ()])]
    t.case("broadcasts", x, exact(lambda *a: sum(a), *x))
    t.case("one", [x[0]], x[0])
    t.case("empty", [numbers("f32", (0, 3)), numbers("f32", (3,))], numbers("f32", (0, 3)))
