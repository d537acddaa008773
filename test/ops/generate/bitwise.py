"""Operators on bits, and logical_xor."""

import numpy as np

from binary import binary
from cases import *
from unary import unary

BITS = INTS + ["bool"]


def bits(name, function):
    @operator(name)
    def cases(t):
        binary(t, function, BITS)
        for dtype in INTS:
            info = np.iinfo(DTYPES[dtype])
            x = array([info.min, info.max, 85, 85], dtype)
            y = array([info.max, 51, info.min, 15], dtype)
            t.case(f"{dtype}: the ends of its range", [x, y], function(x, y))


bits("bitwise_and", np.bitwise_and)
bits("bitwise_or", np.bitwise_or)
bits("bitwise_xor", np.bitwise_xor)


@operator("bitwise_not")
def bitwise_not(t):
    for dtype in INTS:
        info = np.iinfo(DTYPES[dtype])
        x = array([info.min, info.max, 0, 5], dtype)
        t.case(dtype, x, np.bitwise_not(x))
    x = array([True, False], "bool")
    t.case("bool", x, ~x)
    t.case("empty", numbers("i32", (0,)), numbers("i32", (0,)))
    t.case("no columns", numbers("i32", (2, 0)), numbers("i32", (2, 0)))
    t.refused("reals", "'x' must be", "bitwise_not([1.5])")


def shift(name, function):
    @operator(name)
    def cases(t):
        for dtype in INTS:
            info = np.iinfo(DTYPES[dtype])
            size = 8 * np.dtype(DTYPES[dtype]).itemsize
            x = array([1, 5, info.max, info.min, 100, 100, info.min, 1], dtype)
            y = array([0, 2, 1, 1, size - 1, size, size + 1, 3], dtype)
            t.case(dtype, [x, y], function(x, y))
        x = array([1, -1, 7, -7], "i32")
        y = array([-1, -1, -100, -31], "i32")
        t.case("a negative count", [x, y], function(x, y))
        x, y = array([[1], [-9]], "i64"), array([0, 1, 2], "i64")
        t.case("broadcasts", [x, y], function(x, y))
        for shape in [(0,), (2, 0)]:
            x = numbers("i32", shape)
            t.case("empty " + "x".join(map(str, shape)), [x, x], x)
        t.refused("reals", "'x' must be", f"{name}([1.5], [1.5])")


shift("shift_left", np.left_shift)
shift("shift_right", np.right_shift)


@operator("logical_xor")
def logical_xor(t):
    binary(t, np.logical_xor, ["bool"], result="bool")
