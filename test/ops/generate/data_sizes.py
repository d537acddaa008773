"""Sizes that the data decide."""

import numpy as np

from cases import *
from sequences import LENGTHS, OFFSETS, cut


def wide(x):
    return x.astype(np.float64) if is_float(x.dtype) else x


@operator("nonzero")
def nonzero(t):
    def case(name, x):
        t.case(name, [x], np.argwhere(wide(x)).astype(np.int64))
    for dtype in ALL:
        x = numbers(dtype, (3, 4))
        x[1] = 0
        x[2, 1] = 0
        case(dtype, x)
    case("nan and infinities", specials("f32"))
    case("one dim", array([0, 3, 0, 0, 4, 5], "i32"))
    case("three dims", array(numbers("i64", (2, 3, 2)) % 2, "i64"))
    case("none of them", np.zeros((2, 3), np.float32))
    case("empty", numbers("f32", (0,)))
    case("a size of 0 beside others", numbers("f32", (2, 0, 3)))
    # NumPy does not accept scalars here. The result has a row if the number is not 0, and no indices.
    t.case("a scalar", [array(2.5, "f32")], np.zeros((1, 0), np.int64))
    t.case("a scalar that is 0", [array(0, "f32")], np.zeros((0, 0), np.int64))
    x = array([0, 5, 0, 6, 7], "f32")
    t.raw("chained", f"x = {literal(x)}", "y = gather(x, nonzero(x)[:, 0])",
          "expect y ~= [5.0, 6.0, 7.0]", "expect sum(y) ~= 18.0",
          "expect size(dims(y)) == 3")
    t.raw("of what was found", "x = [[0, 2, 0], [4, 0, 6]]", "p = nonzero(x)", "q = nonzero(p)",
          f"expect q == {literal(np.argwhere(np.argwhere([[0, 2, 0], [4, 0, 6]])))}")


@operator("unique")
def unique(t):
    def case(name, x, sorted=True, **attributes):
        values, first, inverse, counts = np.unique(
            wide(x).reshape(-1), return_index=True, return_inverse=True, return_counts=True)
        inverse = inverse.reshape(-1)
        if not sorted:
            order = np.argsort(first)
            values, counts, first = values[order], counts[order], first[order]
            inverse = np.argsort(order)[inverse]
            attributes["sorted"] = False
        t.case(name, [x], (array(values, name_of(x.dtype)), inverse.astype(np.int64),
                           counts.astype(np.int64), first.astype(np.int64)), **attributes)
    for dtype in ALL:
        x = numbers(dtype, (4,))
        x = np.concatenate([x[[2, 0]], x, x[[3, 3, 1]]])
        case(dtype, x)
        case(f"{dtype} as they come", x, sorted=False)
    x = array([np.nan, 1, np.inf, np.nan, -np.inf, 1, np.nan, 2, np.inf], "f32")
    case("nan and infinities", x)
    case("nan and infinities as they come", x, sorted=False)
    case("two dims", array([[3, 1, 3], [2, 1, 3]], "i32"))
    case("all the same", array([7, 7, 7], "i64"))
    case("one", array([7], "i64"))
    case("a scalar", array(7, "i64"))
    case("both zeros", array([0.0, 1.0, -0.0, 0.0], "f64"))
    case("empty", numbers("f32", (0,)))
    case("empty as they come", numbers("f32", (0,)), sorted=False)
    case("a size of 0 beside others", numbers("f32", (2, 0, 3)))


@operator("sequence_at")
def sequence_at(t):
    def case(name, x, at):
        t.case(name, [cut(x)], x[OFFSETS[at]:OFFSETS[at + 1]], at=[at])
    for dtype in ALL:
        case(dtype, numbers(dtype, (5, 2)), 2)
    case("the first", numbers("f32", (5, 2)), 0)
    case("empty", numbers("f32", (5, 2)), 1)
    case("numbers", numbers("f64", (5,)), 2)
    x = array([np.nan, 1, np.inf, 2, -np.inf], "f32")
    case("nan and infinities", x, 2)
    case("a size of 0 beside others", numbers("f32", (5, 0)), 2)
    t.raw("a subscript", f"feed {list(t.inputs)[0]} = {literal(cut(numbers('f32', (5, 2))).rows)}",
          f"expect {list(t.inputs)[0]}[2] ~= {literal(numbers('f32', (5, 2))[2:])}",
          f"expect {list(t.inputs)[0]}[-3] ~= {literal(numbers('f32', (5, 2))[:2])}")
    t.refused("no sequences", "'x' must have one ragged dim, got f32[2, 3]",
              "sequence_at(zeros([2, 3]), [0])")


@operator("run_starts")
def run_starts(t):
    def want(x):
        x = wide(x)
        change = (x[1:] != x[:-1]) & ~((x[1:] != x[1:]) & (x[:-1] != x[:-1]))
        return np.concatenate([np.ones(min(1, len(x)), np.int64), change.astype(np.int64)])
    for dtype in ALL:
        x = numbers(dtype, (4,))
        x = x[[0, 0, 1, 1, 1, 2, 0, 0]]
        t.case(dtype, [x], want(x))
    x = array([np.nan, np.nan, np.inf, np.inf, -np.inf, 1, np.nan], "f32")
    t.case("nan and infinities", [x], want(x))
    x = array([0.0, -0.0, 1.0], "f32")
    t.case("both zeros", [x], want(x))
    t.case("empty", [numbers("f32", (0,))], np.zeros(0, np.int64))
    t.refused("two dims", "'x' must have one dim, got f32[2, 3]", "run_starts(zeros([2, 3]))")


@operator("counted_places")
def counted_places(t):
    def case(name, ones):
        ones = np.asarray(ones, np.int64)
        counts = np.cumsum(ones.reshape(-1)).reshape(ones.shape)
        t.case(name, [counts], np.argwhere(ones).astype(np.int64), dims=[int(ones.sum())])
    case("one dim", [0, 1, 1, 0, 0, 1])
    case("from the first on", [1, 1, 0])
    case("two dims", [[0, 1, 0], [1, 0, 1]])
    case("none", [0, 0, 0])
    case("empty", np.zeros(0))
    case("a size of 0 beside others", np.zeros((2, 0, 3)))
    t.case("fewer increases than rows", [np.array([0, 1, 1], np.int64)],
           np.array([[1], [0], [0]], np.int64), dims=[3])
    t.case("rows without counts", [np.zeros(0, np.int64)], np.zeros((2, 1), np.int64), dims=[2])
    t.refused("a size below 0", "", "counted_places([1, 2], [-1])")


@operator("data_size")
def data_size(t):
    t.raw("a symbol that there is not", "n = 3",
          'expect error "" in data_size(3, [5])')
