"""Diagonals and triangles of matrices."""

import numpy as np

from cases import *


def triangle(t, function):
    for dtype in ALL:
        x = numbers(dtype, (3, 4))
        t.case(dtype, x, function(x))
    for shape in [(3, 5), (5, 3), (2, 3, 3)]:
        x = numbers("f64", shape)
        for k in [-6, -2, -1, 1, 2, 6]:
            t.case(f"{list(shape)}, diagonal {k}", x, function(x, k), k=k)
    x = np.resize(specials(), (4, 4))
    t.case("nan and infinities", x, function(x))
    t.case("an empty tensor", numbers("f32", (0, 0)), numbers("f32", (0, 0)))
    t.case("an axis of size 0", numbers("f32", (3, 0)), numbers("f32", (3, 0)))
    t.refused("no matrix", "'x' must have at least two dims, got f32[3]", f"{t.name}(zeros([3]))")


@operator("triu")
def triu(t):
    triangle(t, np.triu)


@operator("tril")
def tril(t):
    triangle(t, np.tril)


@operator("eye")
def eye(t):
    t.case("f32", [], np.eye(3, dtype=np.float32), dims=[3, 3])
    for dtype in ALL:
        t.case(f"of {dtype}", [], np.eye(2, 3).astype(DTYPES[dtype]), dims=[2, 3],
               dtype=Dim(dtype))
    for k in [-4, -1, 1, 2, 5]:
        t.case(f"diagonal {k}", [], np.eye(3, 4, k).astype(np.float32), dims=[3, 4], k=k)
    t.case("several", [], np.stack([np.eye(2, 2, dtype=np.float32)] * 3), dims=[3, 2, 2])
    t.case("an empty tensor", [], np.zeros((0, 0), np.float32), dims=[0, 0])
    t.case("an axis of size 0", [], np.zeros((3, 0), np.float32), dims=[3, 0])
    t.refused("one size", "'dims' must have at least two sizes, got 1", "eye([3])")
    t.refused("a negative size", "a size must not be negative, got -1", "eye([-1, 2])")


def diag_of(x, k=0):
    size = x.shape[-1] + abs(k)
    result = np.zeros(x.shape[:-1] + (size, size), x.dtype)
    for place in np.ndindex(x.shape[:-1]):
        result[place] = np.diag(x[place], k)
    return result


@operator("diag")
def diag(t):
    for dtype in ALL:
        x = numbers(dtype, (3,))
        t.case(dtype, x, diag_of(x))
    for k in [-2, -1, 1, 2]:
        x = numbers("f64", (3,))
        t.case(f"diagonal {k}", x, diag_of(x, k), k=k)
        x = numbers("f64", (2, 2))
        t.case(f"rows, diagonal {k}", x, diag_of(x, k), k=k)
    x = specials()[:4]
    t.case("nan and infinities", x, diag_of(x))
    t.case("an empty tensor", numbers("f32", (0,)), np.zeros((0, 0), np.float32))
    t.case("nothing on the diagonal", numbers("f32", (0,)), np.zeros((1, 1), np.float32), k=1)
    t.case("an axis of size 0", numbers("f32", (0, 2)), np.zeros((0, 2, 2), np.float32))
    t.refused("a scalar", "'x' must have at least one dim, got f32[]", "diag(x)", "x: f32[] = 1.0")


@operator("diagonal")
def diagonal(t):
    def want(x, k=0):
        if not -x.shape[-2] <= k <= x.shape[-1]:
            return np.zeros(x.shape[:-2] + (0,), x.dtype)
        return np.diagonal(x, k, -2, -1)

    for dtype in ALL:
        x = numbers(dtype, (3, 4))
        t.case(dtype, x, want(x))
    for shape in [(3, 5), (5, 3), (2, 3, 3)]:
        x = numbers("f64", shape)
        for k in [-6, -2, -1, 1, 2, 6]:
            t.case(f"{list(shape)}, diagonal {k}", x, want(x, k), k=k)
    x = np.resize(specials(), (5, 5))
    t.case("nan and infinities", x, want(x))
    t.case("an empty tensor", numbers("f32", (0, 0)), numbers("f32", (0,)))
    t.case("an axis of size 0", numbers("f32", (3, 0)), numbers("f32", (0,)))
    t.refused("no matrix", "'x' must have at least two dims, got f32[3]", "diagonal(zeros([3]))")
