"""Sequences: rows of different lengths."""

import numpy as np

from cases import *
from segments import pool

LENGTHS = [2, 0, 3]
OFFSETS = np.cumsum([0] + LENGTHS)


def cut(x, offsets=OFFSETS, label="x"):
    return Ragged([x[a:b] for a, b in zip(offsets, offsets[1:])], name_of(x.dtype), label)


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
    t.refused("lengths of ragged sequences", "has lengths of its own",
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


@operator("sequence_conv")
def sequence_conv(t):
    two, half = (Dim(f"{{init=normal(mean={mean}, std=0.0)}}") for mean in ("2.0", "0.5"))

    def case(name, x, tol=None, **attributes):
        size = attributes.get("size", 3)
        start = attributes.get("start", -(size // 2))

        def f(x):
            rows = [2 * x[max(a, row + start):max(a, min(b, row + start + size))].sum() + 0.5
                    for a, b in zip(OFFSETS, OFFSETS[1:]) for row in range(a, b)]
            return np.repeat(np.array(rows)[:, None], 2, 1)
        t.case(name, [cut(x)], cut(exact(f, x)), tol, channels=2, param_attr=two, bias_attr=half,
               **attributes)

    for dtype in FLOATS:
        case(dtype, numbers(dtype, (5, 2)), tol={"f16": 1e-2, "bf16": 1e-1}.get(dtype))
    x = numbers("f64", (5, 2))
    case("two rows", x, size=2)
    case("rows before", x, size=2, start=-2)
    case("rows behind", x, size=4, start=1)


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


@operator("sequence_concat")
def sequence_concat(t):
    t.declare("input deep_a: f32[N, ~S, ~A]\ninput deep_b: f32[N, ~S, ~B]")
    others, third = np.cumsum([0, 1, 2, 1]), np.cumsum([0, 0, 0, 3])

    def case(name, *parts):
        """`parts`: packed rows and the offsets of each operand."""
        rows = [np.concatenate([x[offsets[n]:offsets[n + 1]] for x, offsets in parts])
                for n in range(3)]
        labels = "xyz"
        t.case(name, [cut(x, offsets, labels[i]) for i, (x, offsets) in enumerate(parts)],
               Ragged(rows, name_of(parts[0][0].dtype)))

    for dtype in ALL:
        case(dtype, (numbers(dtype, (5, 2)), OFFSETS), (numbers(dtype, (4, 2), seed=1), others))
    x, y = numbers("f64", (5, 2)), numbers("f64", (4, 2), seed=1)
    case("three", (x, OFFSETS), (y, others), (numbers("f64", (3, 2), seed=2), third))
    case("one", (x, OFFSETS))
    case("numbers", (numbers("f32", (5,)), OFFSETS), (numbers("f32", (4,), seed=1), others))
    case("rows without elements", (numbers("f32", (5, 0)), OFFSETS),
         (numbers("f32", (4, 0)), others))
    case("nan and infinities", (array([np.nan, 1, np.inf, 2, -np.inf], "f32"), OFFSETS),
         (array([0, np.nan, -np.inf, 3], "f32"), others))
    case("no sequence has a row", (numbers("f32", (0, 2)), [0, 0, 0, 0]),
         (numbers("f32", (0, 2)), [0, 0, 0, 0]))
    t.raw("sequences of sequences", "feed deep_a = [[[1.0, 2.0], []], [[3.0]]]",
          "feed deep_b = [[[4.0], [5.0, 6.0]], [[7.0]]]", "y = sequence_concat(deep_a, deep_b)",
          "expect y ~= [[[1.0, 2.0, 4.0], [5.0, 6.0]], [[3.0, 7.0]]]")
    t.refused("a dense operand", "must have a ragged dim", "sequence_concat(deep_a, zeros([3, 2]))")
    t.refused("rows of another size", "the sizes of rows differ: 2 and 0",
              "sequence_concat(x_f32_2, x_f32_0)")
    t.refused("other dims", "sequences have different dims", "sequence_concat(x_f32_2, deep_a)")


@operator("sequence_slice")
def sequence_slice(t):
    t.declare("input deep_a: f32[N, ~S, ~A]\ninput deep_starts: i64[N, ~S]")

    def case(name, x, starts, lengths=None, dtype="i64"):
        rows = []
        for n, (a, b) in enumerate(zip(OFFSETS, OFFSETS[1:])):
            own = x[a:b]
            start = starts if np.isscalar(starts) else starts[n]
            start = max(start + len(own), 0) if start < 0 else start
            count = lengths if lengths is None or np.isscalar(lengths) else lengths[n]
            rows.append(own[start:] if count is None else own[start:][:max(count, 0)])
        given = [array(part, dtype) for part in (starts, lengths) if part is not None]
        t.case(name, [cut(x)] + given, Ragged(rows, name_of(x.dtype)))

    for dtype in ALL:
        case(dtype, numbers(dtype, (5, 2)), [1, 0, 0], [1, 2, 2])
    x = numbers("f64", (5, 2))
    case("the rest", x, [1, 1, 2])
    case("from the end", x, [-1, -1, -2], [5, 5, 1], "i32")
    case("one number for all", x, 1, 1)
    case("what is not there", x, [-9, 3, 2], [1, 1, 9])
    case("nothing", x, 0, [0, -4, 0])
    case("numbers", numbers("f32", (5,)), 1)
    case("rows without elements", numbers("f32", (5, 0)), 1)
    case("nan and infinities", array([np.nan, 1, np.inf, 2, -np.inf], "f32"), 0, [1, 1, 3])
    t.raw("sequences of sequences", "feed deep_a = [[[1.0, 2.0], []], [[3.0, 4.0, 5.0]]]",
          "feed deep_starts = [[1, 0], [-2]]", "y = sequence_slice(deep_a, deep_starts)",
          "expect y ~= [[[2.0], []], [[4.0, 5.0]]]")
    t.refused("a dense operand", "must have a ragged dim", "sequence_slice(zeros([3, 2]), 1)")
    t.refused("too many starts", "must be a scalar, or have one entry for each sequence",
              "sequence_slice(x_f64_2, zeros([3, 2], dtype=i64))")


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
          'expect error "the numbers of elements differ: sum(T) = 3, not 4" in ragged([1, 2, 3, 4], n)')
    t.raw("a negative length", "feed n = [5, -1]",
          'expect error "no valid size sum(T): a length is negative" in ragged([1, 2, 3, 4], n)')
    t.refused("a scalar", "must have rows", "ragged(1.0, [1])")
    t.refused("lengths of two dims", "must be i64[N]", "ragged([1, 2], [[1, 1]])")
    t.refused("other rows than the lengths say", "the lengths sum to 2, but there are 3 rows",
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
    t.refused("lengths of other rows", "must have one entry for each row",
              "sequence_unpad(zeros([3, 2]), [1, 2])")
    t.refused("one dim", "must have rows and steps", "sequence_unpad(zeros([3]), [1, 2, 3])")
