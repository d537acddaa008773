"""Sequences: rows of different lengths."""

import numpy as np

from cases import *
from segments import pool

LENGTHS = [2, 0, 3]
OFFSETS = np.cumsum([0] + LENGTHS)


def cut(x, offsets=OFFSETS):
    return Ragged([x[a:b] for a, b in zip(offsets, offsets[1:])], name_of(x.dtype))


def each(t, dtypes, function, shape=(5, 2), **attributes):
    """`function`: from packed rows to the result."""
    for dtype in dtypes:
        x = numbers(dtype, shape)
        t.case(dtype, [cut(x)], function(x), **attributes)
    if "f32" in dtypes:
        x = array([np.nan, 1, np.inf, 2, -np.inf], "f32").reshape((5, 1))
        x = np.repeat(x, shape[1], 1)
        t.case("nan and infinities", [cut(x)], function(x), **attributes)
        x = numbers("f32", (5, 0))
        t.case("rows without elements", [cut(x)], function(x), **attributes)


@operator("sequence_pool")
def sequence_pool(t):
    for kind in ["sum", "mean", "sqrt", "max", "min", "first", "last"]:
        each(t, FLOATS, lambda x: pool(x, OFFSETS, kind), kind=kind)
    x = numbers("f64", (5, 2))
    t.case("another value for nothing", [cut(x)], pool(x, OFFSETS, "max", -1), kind="max",
           empty=-1.0)


@operator("sequence_softmax")
def sequence_softmax(t):
    def want(x):
        def f(x):
            parts = []
            for a, b in zip(OFFSETS, OFFSETS[1:]):
                e = np.exp(x[a:b] - x[a:b].max(0)) if b > a else x[a:b]
                parts.append(e / e.sum(0) if b > a else e)
            return np.concatenate(parts)
        return cut(exact(f, x))
    each(t, FLOATS, want)


@operator("sequence_length")
def sequence_length(t):
    each(t, ALL, lambda x: array(LENGTHS, "i64"))


@operator("sequence_reverse")
def sequence_reverse(t):
    each(t, ALL, lambda x: cut(np.concatenate(
        [x[a:b][::-1] for a, b in zip(OFFSETS, OFFSETS[1:])])))
    x = numbers("f64", (3, 4, 2))
    t.case("a padded batch", [x], x[:, ::-1].copy())
    lengths = np.array([2, 0, 4], np.int64)
    want = x.copy()
    for n, length in enumerate(lengths):
        want[n, :length] = x[n, :length][::-1]
    t.case("a padded batch with lengths", {"x": x, "lengths": lengths}, want)
    want[2] = x[2, ::-1]
    want[1] = x[1]
    t.case("lengths that cannot be", {"x": x, "lengths": np.array([2, -3, 9], np.int64)}, want)
    t.refused("lengths of ragged sequences", "are its own",
              "sequence_reverse(x_f64_2, lengths=[1])")


@operator("sequence_expand")
def sequence_expand(t):
    for dtype in ALL:
        x, like = numbers(dtype, (3, 2)), numbers(dtype, (5, 1))
        t.case(dtype, [x, cut(like)], cut(np.repeat(x, LENGTHS, 0)))
    x, like = array([[np.nan], [1], [np.inf]], "f32"), numbers("f32", (5, 1))
    t.case("nan and inf", [x, cut(like)], cut(np.repeat(x, LENGTHS, 0)))
    x = array([[1], [2], [-np.inf]], "f32")
    like = array([[np.nan], [np.inf], [-np.inf], [0], [1]], "f32")
    t.case("what `like` holds does not matter", [x, cut(like)], cut(np.repeat(x, LENGTHS, 0)))
    x = numbers("f32", (3, 0))
    t.case("rows without elements", [x, cut(like)], cut(np.repeat(x, LENGTHS, 0)))


@operator("sequence_window")
def sequence_window(t):
    def window(x, size=3, start=-1):
        rows = []
        for a, b in zip(OFFSETS, OFFSETS[1:]):
            for row in range(a, b):
                rows += [x[i] if a <= i < b else np.zeros_like(x[0])
                         for i in range(row + start, row + start + size)]
        return cut(np.array(rows, x.dtype).reshape(len(x), size * x.shape[1]))

    each(t, ALL, window)
    x = numbers("f64", (5, 2))
    t.case("two rows before", [cut(x)], window(x, 2, -2), size=2, start=-2)


@operator("sequence_pad")
def sequence_pad(t):
    def pad(x, size, value=0):
        y = np.full((3, size) + x.shape[1:], value).astype(x.dtype)
        for i, (a, b) in enumerate(zip(OFFSETS, OFFSETS[1:])):
            y[i, :min(size, b - a)] = x[a:b][:size]
        return y

    for size in [3, 2]:
        each(t, ALL, lambda x: pad(x, size), size=[size])
    x = numbers("f64", (5, 2))
    t.case("another value", [cut(x)], pad(x, 4, 7), size=[4], value=7.0)


@operator("ragged")
def ragged(t):
    lengths = array(LENGTHS, "i64")
    each_of = {"rows": (5,), "rows of two": (5, 2)}
    for dtype in ALL:
        for name, shape in each_of.items():
            x = numbers(dtype, shape)
            t.case(f"{dtype}, {name}", [x, lengths], cut(x))
    x = array([np.nan, 1, np.inf, 2, -np.inf], "f32")
    t.case("nan and infinities", [x, lengths], cut(x))
    x = numbers("f32", (5, 0))
    t.case("rows without elements", [x, lengths], cut(x))
    t.case("no rows", [numbers("f64", (0, 2)), np.zeros(2, np.int64)],
           cut(numbers("f64", (0, 2)), [0, 0, 0]))
    t.raw("sequences of sequences", "y = ragged(ragged([1, 2, 3, 4, 5], [2, 0, 3]), [1, 2])",
          "expect y ~= [[[1, 2]], [[], [3, 4, 5]]]",
          "expect sequence_pool(cast(y, to=f32)) ~= [[3.0], [0.0, 12.0]]")
    t.raw("a literal", "expect sequence_length([[1, 2, 3], [4]]) == [3, 1]",
          "expect sequence_length([[[1], [2, 3]], [[4]]]) ~= [[1, 2], [1]]",
          "expect sequence_pool([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]) == "
          "[[1.0, 2.0], [8.0, 10.0]]")
    t.raw("lengths that a run computes", "n = cast(ones([2]) * 2.0, to=i64)",
          "expect ragged([1, 2, 3, 4], n) ~= [[1, 2], [3, 4]]")
    t.declare("input n: i64[2]")
    t.raw("lengths that the rows do not fill", "feed n = [2, 1]",
          'expect error "the counts of elements differ: sum(T) = 3, not 4" in ragged([1, 2, 3, 4], n)')
    t.raw("a negative length", "feed n = [5, -1]",
          'expect error "is -1" in ragged([1, 2, 3, 4], n)')
    t.refused("a scalar", "must have rows", "ragged(1.0, [1])")
    t.refused("lengths of two dims", "must be i64[N]", "ragged([1, 2], [[1, 1]])")
    t.refused("other rows than the lengths say", "the lengths add up to 2, and there are 3 rows",
              "ragged([1, 2, 3], [1, 1])")


@operator("sequence_unpad")
def sequence_unpad(t):
    lengths = array(LENGTHS, "i64")

    def unpad(x, lengths):
        return Ragged([row[:max(n, 0)] for row, n in zip(x, lengths)], name_of(x.dtype))

    for dtype in ALL:
        x = numbers(dtype, (3, 4, 2))
        t.case(dtype, [x, lengths], unpad(x, lengths))
    x = numbers("f64", (3, 3))
    t.case("lengths that cannot be", [x, array([9, -2, 1], "i64")], unpad(x, [9, -2, 1]))
    x = array([[np.nan, 1], [np.inf, 2], [-np.inf, 3]], "f32")
    t.case("nan and infinities", [x, array([1, 2, 0], "i64")], unpad(x, [1, 2, 0]))
    x = numbers("f32", (3, 2, 0))
    t.case("rows without elements", [x, array([1, 2, 0], "i64")], unpad(x, [1, 2, 0]))
    x = numbers("f32", (3, 0))
    t.case("no steps", [x, array([1, 2, 0], "i64")], unpad(x, [1, 2, 0]))
    t.raw("what was padded", "x = [[1, 2, 3], [4]]",
          "expect sequence_unpad(sequence_pad(x, [5]), sequence_length(x)) ~= [[1, 2, 3], [4]]")
    t.refused("lengths of other rows", "there is a length for each row",
              "sequence_unpad(zeros([3, 2]), [1, 2])")
    t.refused("one dim", "must have rows and steps", "sequence_unpad(zeros([3]), [1, 2, 3])")
