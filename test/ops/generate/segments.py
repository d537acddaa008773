"""What stands for ragged and sparse values: rows in segments, and matrices by their rows."""

import numpy as np
import scipy.sparse

from cases import *

OFFSETS = array([0, 2, 2, 5], "i64")
NONE = array([0], "i64")


def pieces(x, offsets):
    return [x[a:b] for a, b in zip(offsets, offsets[1:])]


def places(t, function, **attributes):
    for name, offsets, rows in [("segments", OFFSETS, 5), ("rows behind the last", OFFSETS, 7),
                                ("no rows", array([0, 0, 0], "i64"), 0)]:
        t.case(name, offsets, array(function(offsets, rows), "i64"), dims=[rows], **attributes)
    t.refused("no offsets", "'offsets' must have at least one element",
              f"{t.name}(" + "cast(zeros([0]), to=i64), dims=[0]" +
              "".join(f", {key}={attribute(value)}" for key, value in attributes.items()) + ")")


@operator("segment_ids")
def segment_ids(t):
    def want(offsets, rows):
        ids = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return np.concatenate([ids, np.full(rows - len(ids), len(offsets) - 2)])
    places(t, want)


@operator("segment_reverse")
def segment_reverse(t):
    def want(offsets, rows):
        parts = [part[::-1] for part in pieces(np.arange(rows), offsets)]
        return np.concatenate(parts + [np.arange(offsets[-1], rows)])
    places(t, want)


def window(offsets, rows, size=3, start=-1):
    y = np.full((rows, size), rows)
    for part in pieces(np.arange(rows), offsets):
        for row in part:
            for i in range(size):
                if row + start + i in part:
                    y[row, i] = row + start + i
    return y


@operator("segment_window")
def segment_window(t):
    t.case("segments", OFFSETS, array(window(OFFSETS, 5), "i64"), dims=[5])
    t.case("two rows before", OFFSETS, array(window(OFFSETS, 5, 2, -2), "i64"), dims=[5], size=2,
           start=-2)
    t.case("from the row on", OFFSETS, array(window(OFFSETS, 5, 4, 0), "i64"), dims=[5], size=4,
           start=0)
    t.case("no rows", array([0, 0], "i64"), np.zeros((0, 3), np.int64), dims=[0])


@operator("segment_pad")
def segment_pad(t):
    def want(offsets, rows, size):
        y = np.full((len(offsets) - 1, size), rows)
        for i, part in enumerate(pieces(np.arange(rows), offsets)):
            y[i, :min(size, len(part))] = part[:size]
        return array(y, "i64")

    for size in [4, 2, 0]:
        t.case(f"to {size} rows", OFFSETS, want(OFFSETS, 5, size), dims=[5], size=[size])
    t.case("no segments", NONE, np.zeros((0, 2), np.int64), dims=[0], size=[2])


def pool(x, offsets, kind, empty=0.0):
    functions = {
        "sum": lambda p: p.sum(0), "mean": lambda p: p.mean(0),
        "sqrt": lambda p: p.sum(0) / len(p)**0.5, "max": lambda p: p.max(0),
        "min": lambda p: p.min(0), "first": lambda p: p[0], "last": lambda p: p[-1]}

    def f(x):
        rows = [functions[kind](p) if len(p) else np.full(x.shape[1:], empty)
                for p in pieces(x, offsets)]
        return np.array(rows).reshape((len(offsets) - 1,) + x.shape[1:])
    return exact(f, x)


@operator("segment_pool")
def segment_pool(t):
    for kind in ["sum", "mean", "sqrt", "max", "min", "first", "last"]:
        for dtype in FLOATS:
            x = numbers(dtype, (5, 2))
            t.case(f"{kind} of {dtype}", [x, OFFSETS], pool(x, OFFSETS, kind), kind=kind)
        x = array([np.nan, 1, np.inf, 2, -np.inf], "f32")
        t.case(f"{kind}: nan and infinities", [x, OFFSETS], pool(x, OFFSETS, kind), kind=kind)
        x = numbers("f32", (0, 3))
        t.case(f"{kind} of nothing", [x, array([0, 0, 0], "i64")], np.zeros((2, 3), np.float32),
               kind=kind)
    x = numbers("f64", (5, 2))
    t.case("another value for nothing", [x, OFFSETS], pool(x, OFFSETS, "max", -1), kind="max",
           empty=-1.0)
    t.case("no segments", [x[:0], NONE], x[:0])
    x = numbers("f32", (5, 0))
    t.case("rows without elements", [x, OFFSETS], x[:3])


@operator("segment_softmax")
def segment_softmax(t):
    def want(x):
        def f(x):
            y = x.copy()
            for a, b in zip(OFFSETS, OFFSETS[1:]):
                if b > a:
                    e = np.exp(x[a:b] - x[a:b].max(0))
                    y[a:b] = e / e.sum(0)
            return y
        return exact(f, x)

    for dtype in FLOATS:
        x = numbers(dtype, (5, 2))
        t.case(dtype, [x, OFFSETS], want(x))
        x = array([np.nan, 1, -np.inf, 2, 1], dtype)
        t.case(f"{dtype}: nan and infinities", [x, OFFSETS], want(x))
    x = array([1, 2, np.inf, 2, 1], "f32")
    t.case("inf", [x, OFFSETS], want(x))
    x = array([1000, 1001, -1000, 0, 1000], "f32")
    t.case("large numbers", [x, OFFSETS], want(x))
    x = numbers("f32", (0,))
    t.case("no rows", [x, NONE], x)
    x = numbers("f32", (5, 0))
    t.case("rows without elements", [x, OFFSETS], x)


@operator("csr_matmul")
def csr_matmul(t):
    indices = array([0, 2, 1, 1, 3], "i64")

    def want(b, values):
        def f(b, values):
            m = scipy.sparse.csr_matrix((values, indices, OFFSETS), shape=(3, len(b)))
            return m @ b
        return exact(f, b, values)

    for dtype in FLOATS:
        b, values = numbers(dtype, (4, 2)), numbers(dtype, (5,), seed=1)
        t.case(dtype, [OFFSETS, indices, b, values], want(b, values))
        t.case(f"{dtype}, ones", [OFFSETS, indices, b], want(b, np.ones_like(values)))
        b = array([[1, np.nan], [np.inf, 1], [-np.inf, 2], [1, 1]], dtype)
        t.case(f"{dtype}: nan and infinities", [OFFSETS, indices, b], want(b, np.ones_like(values)))
    b = numbers("f32", (4, 2))
    none = array(np.zeros(0, int), "i64")
    t.case("a matrix of zeros", [array([0, 0, 0], "i64"), none, b], np.zeros((2, 2), np.float32))
    t.case("no rows", [NONE, none, b], np.zeros((0, 2), np.float32))
    t.case("no columns", [OFFSETS, indices, numbers("f32", (4, 0))], np.zeros((3, 0), np.float32))
    t.case("a column outside", [array([0, 2], "i64"), array([1, 4], "i64"), b], b[1:2])
