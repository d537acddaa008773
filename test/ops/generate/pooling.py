"""Pooling, and the ways back, by PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import *
from convolution import padded, reference

MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
ADAPTIVE_AVG = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
INFINITY = float("inf")


def not_finite(dtype):
    """Planes with one nan, infinity or both in some windows."""
    x = numbers(dtype, (1, 2, 4, 6))
    x[0, 0, 0, 0] = np.nan
    x[0, 0, 1, 3] = np.inf
    x[0, 0, 3, 5] = -np.inf
    x[0, 1, 0, :2] = np.inf, -np.inf
    x[0, 1, 2:, 2:4] = -np.inf
    return x


def windows(case, dtypes):
    """The cases that every operator with a sliding window has; case(name, x, pads, keywords of PyTorch,
    **attributes)."""
    for dtype in dtypes:
        case(dtype, numbers(dtype, (2, 2, 4, 6)), None, dict(kernel_size=2), kernel=2)
        case(f"{dtype}, overlapping", numbers(dtype, (1, 2, 5, 6)), None, dict(kernel_size=3, stride=2, padding=1),
             kernel=3, stride=2, pad=1)
    x = numbers("f32", (2, 3, 6, 7))
    case("each dim its own", x, None, dict(kernel_size=(3, 2), stride=(1, 2), padding=(1, 0)), kernel=[3, 2],
         stride=[1, 2], pad=[1, 0])
    case("rounded up", x, None, dict(kernel_size=3, stride=2, ceil_mode=True), kernel=3, stride=2, ceil_mode=True)
    case("rounded up, nothing left", x, None, dict(kernel_size=2, stride=3, padding=1, ceil_mode=True), kernel=2,
         stride=3, pad=1, ceil_mode=True)
    case("a pair for each dim", x, [(0, 1), (2, 1)], dict(kernel_size=3), kernel=3, stride=3, pad=[0, 1, 2, 1])
    case("same", x, [(0, 1), (0, 1)], dict(kernel_size=2, stride=1), kernel=2, stride=1, pad="same")
    case("same_lower", x, [(1, 0), (1, 0)], dict(kernel_size=2, stride=1), kernel=2, stride=1, pad="same_lower")
    case("valid", x, None, dict(kernel_size=2), kernel=2, pad="valid")
    case("one dim", numbers("f32", (2, 3, 9)), None, dict(kernel_size=3, stride=2, padding=1), kernel=3, stride=2, pad=1)
    case("three dims", numbers("f32", (1, 2, 4, 3, 4)), None, dict(kernel_size=2, stride=(2, 1, 1), padding=(1, 0, 1)),
         kernel=2, stride=[2, 1, 1], pad=[1, 0, 1])
    for dtype in FLOATS:
        if dtype in dtypes:
            case(f"{dtype}: nan and infinities", not_finite(dtype), None, dict(kernel_size=2), kernel=2)


def refused(t, name):
    t.refused("a window that is too large", "the window must fit into the padded size: 3 is less than 4",
              f"{name}(zeros([1, 1, 3, 3]), kernel=4)")
    t.refused("padding as large as the window", "'pad' must be less than the window's 2, got 2",
              f"{name}(zeros([1, 1, 3, 3]), kernel=2, pad=2)")
    t.refused("stride 0", "'stride' must be at least 1, got 0", f"{name}(zeros([1, 1, 3, 3]), kernel=2, stride=0)")
    t.refused("a matrix", "'x' must be [N, C, ...] with 1 to 3 spatial dims, got f32[3, 3]",
              f"{name}(zeros([3, 3]), kernel=2)")
    t.refused("too many sizes", "'kernel' must have one entry, or one for each of 2 dims, got 3",
              f"{name}(zeros([1, 1, 3, 3]), kernel=[2, 2, 2])")


def max_pool(x, pads, **keywords):
    pool = MAX[x.ndim - 2]
    return pool(x if pads is None else padded(x, pads, -INFINITY), **keywords)


@operator("max_pool")
def max_pool_cases(t):
    def case(name, x, pads, keywords, **attributes):
        t.case(name, [x], reference(lambda x: max_pool(x, pads, **keywords), x), 0, **attributes)

    windows(case, NUMBERS)
    x = numbers("f32", (2, 3, 6, 7))
    case("dilation", x, None, dict(kernel_size=2, stride=1, dilation=(3, 2)), kernel=2, stride=1, dilation=[3, 2])
    t.case("no batch", [x[:0]], np.zeros((0, 3, 3, 3), np.float32), kernel=2)
    t.case("no channels", [x[:, :0]], np.zeros((2, 0, 3, 3), np.float32), kernel=2)
    t.case("a window in the padding", [np.zeros((1, 1, 1), np.float32)], array([[[-INFINITY]]], "f32"), kernel=2,
           dilation=2, pad=1, stride=1)
    refused(t, "max_pool")


@operator("max_pool_index")
def max_pool_index(t):
    def case(name, x, pads, keywords, **attributes):
        wide = torch.tensor(np.asarray(x, np.float64))
        if pads is None:
            want = MAX[x.ndim - 2](wide, **keywords, return_indices=True)[1].numpy()
        else:
            # Indices into the padded plane are converted to indices into the plane.
            height, width = x.shape[2:]
            want = MAX[2](padded(wide, pads, -INFINITY), **keywords, return_indices=True)[1].numpy()
            row = want // (width + sum(pads[1])) - pads[0][0]
            column = want % (width + sum(pads[1])) - pads[1][0]
            want = row * width + column
        t.case(name, [x], want.astype(np.int64), **attributes)

    windows(case, NUMBERS)
    x = numbers("f32", (2, 3, 6, 7))
    case("dilation", x, None, dict(kernel_size=2, stride=1, dilation=(3, 2)), kernel=2, stride=1, dilation=[3, 2])
    case("equal elements", np.zeros((1, 1, 4, 4), np.float32), None, dict(kernel_size=2), kernel=2)
    t.case("no batch", [x[:0]], np.zeros((0, 3, 3, 3), np.int64), kernel=2)
    t.case("no channels", [x[:, :0]], np.zeros((2, 0, 3, 3), np.int64), kernel=2)
    t.case("a window in the padding", [np.zeros((1, 1, 1), np.float32)], np.full((1, 1, 1), -1), kernel=2, dilation=2,
           pad=1, stride=1)
    refused(t, "max_pool_index")


def avg_pool(x, pads, divisor=None, **keywords):
    x = x if pads is None else padded(x, pads)
    if divisor is not None:
        keywords["divisor_override"] = divisor
    return AVG[x.ndim - 2](x, **keywords)


def naive_mean(x, kernel, dilation):
    """Means of dilated windows, stride 1, of [N, C, H, W]."""
    height, width = (size - (kernel - 1) * dilation for size in x.shape[2:])
    return np.mean([x[:, :, i * dilation:i * dilation + height, j * dilation:j * dilation + width]
                    for i in range(kernel) for j in range(kernel)], axis=0)


def avg_cases(case):
    windows(case, FLOATS)
    x = numbers("f32", (2, 3, 6, 7))
    for ceil in (False, True):
        keywords = dict(kernel_size=3, stride=2, padding=1, ceil_mode=ceil)
        case(f"without the padding, ceil_mode={ceil}", x, None, dict(keywords, count_include_pad=False), kernel=3,
             stride=2, pad=1, ceil_mode=ceil, count_include_pad=False)
        case(f"a divisor, ceil_mode={ceil}", x, None, dict(keywords, divisor=5), kernel=3, stride=2, pad=1,
             ceil_mode=ceil, divisor=5)


@operator("avg_pool")
def avg_pool_cases(t):
    def case(name, x, pads, keywords, **attributes):
        t.case(name, [x], reference(lambda x: avg_pool(x, pads, **keywords), x), **attributes)

    avg_cases(case)
    x = numbers("f32", (2, 3, 6, 7))
    t.case("dilation", [x], exact(lambda x: naive_mean(x, 2, 3), x), kernel=2, dilation=3, stride=1)
    t.case("no batch", [x[:0]], np.zeros((0, 3, 3, 3), np.float32), kernel=2)
    t.case("no channels", [x[:, :0]], np.zeros((2, 0, 3, 3), np.float32), kernel=2)
    refused(t, "avg_pool")
    t.refused("integers", "'x' must be f16, bf16, f32 or f64", "avg_pool(zeros([1, 1, 3, 3], dtype=i32), kernel=2)")


def pullback(function, size, dy):
    """The gradient of function, linear, of planes of this size."""
    x = torch.zeros((*dy.shape[:2], *size), dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(function(x), x, dy)[0]


@operator("avg_pool_grad")
def avg_pool_grad(t):
    def case(name, x, pads, keywords, **attributes):
        size = x.shape[2:]
        out = avg_pool(torch.zeros(x.shape), pads, **keywords).shape
        dy = numbers(name_of(x.dtype), tuple(out), seed=1)
        if "nan" in name:
            dy.flat[0], dy.flat[4], dy.flat[-1] = np.nan, np.inf, -np.inf
        t.case(name, [dy], reference(lambda dy: pullback(lambda x: avg_pool(x, pads, **keywords), size, dy), dy),
               size=list(size), **attributes)

    avg_cases(case)
    dy = numbers("f32", (2, 3, 4, 5))
    square = np.zeros((2, 3, 6, 7))
    for i in (0, 2):
        for j in (0, 2):
            square[:, :, i:i + 4, j:j + 5] += dy.astype(np.float64) / 4
    t.case("dilation", [dy], array(square, "f32"), size=[6, 7], kernel=2, dilation=2, stride=1)
    t.case("no batch", [dy[:0]], np.zeros((0, 3, 8, 10), np.float32), size=[8, 10], kernel=2)
    t.case("no channels", [dy[:, :0]], np.zeros((2, 0, 8, 10), np.float32), size=[8, 10], kernel=2)
    t.refused("another size", "'dy' must have the pooled size: 3 and 4",
              "avg_pool_grad(zeros([1, 1, 4, 3]), size=[6, 6], kernel=2)")


@operator("lp_pool")
def lp_pool(t):
    def norm(x, pads, p=2.0, **keywords):
        if x.ndim == 3:  # PyTorch has no divisor there
            return (keywords["kernel_size"] * avg_pool(x.abs() ** p, pads, **keywords)) ** (1 / p)
        return avg_pool(x.abs() ** p, pads, divisor=1, **keywords) ** (1 / p)

    def case(name, x, pads, keywords, **attributes):
        t.case(name, [x], reference(lambda x: norm(x, pads, **keywords), x), **attributes)

    windows(case, FLOATS)
    x = numbers("f32", (2, 3, 6, 7))
    for p in (1.0, 3.0, 0.5):
        case(f"p = {p}", x, None, dict(kernel_size=3, stride=2, p=p), kernel=3, stride=2, p=p)
    t.case("dilation", [x], exact(lambda x: (4 * naive_mean(x * x, 2, 3)) ** 0.5, x), kernel=2, dilation=3, stride=1)
    t.case("no batch", [x[:0]], np.zeros((0, 3, 3, 3), np.float32), kernel=2)
    t.case("no channels", [x[:, :0]], np.zeros((2, 0, 3, 3), np.float32), kernel=2)
    refused(t, "lp_pool")


def adaptive_cases(t, function, dtypes, indices=False):
    def case(name, x, size):
        rank = x.ndim - 2
        size_of = [size] * rank if isinstance(size, int) else size
        if indices:
            wide = torch.tensor(np.asarray(x, np.float64))
            want = ADAPTIVE_MAX[rank](wide, size_of, return_indices=True)[1].numpy().astype(np.int64)
        else:
            want = reference(lambda x: function[rank](x, size_of), x)
        t.case(name, [x], want, size=size)

    for dtype in dtypes:
        case(dtype, numbers(dtype, (2, 2, 4, 5)), [2, 3])
        if is_float(dtype):
            case(f"{dtype}: nan and infinities", not_finite(dtype), [2, 3])
    x = numbers("f32", (2, 3, 5, 7))
    case("everything", x, 1)
    case("one size for both", x, 3)
    case("larger than it was", x, [8, 9])
    case("one dim", numbers("f32", (2, 3, 9)), 4)
    case("three dims", numbers("f32", (1, 2, 3, 4, 5)), [2, 3, 2])
    want = np.int64 if indices else np.float32
    t.case("no batch", [x[:0]], np.zeros((0, 3, 2, 2), want), size=2)
    t.case("no channels", [x[:, :0]], np.zeros((2, 0, 2, 2), want), size=2)
    t.refused("nothing to pool", "a dim without elements cannot be pooled", f"{t.name}(zeros([1, 1, 0, 3]), 2)")
    t.refused("size 0", "'size' must be at least 1, got 0", f"{t.name}(zeros([1, 1, 3, 3]), 0)")


@operator("adaptive_max_pool")
def adaptive_max_pool(t):
    adaptive_cases(t, ADAPTIVE_MAX, NUMBERS)


@operator("adaptive_max_pool_index")
def adaptive_max_pool_index(t):
    adaptive_cases(t, None, NUMBERS, indices=True)


@operator("adaptive_avg_pool")
def adaptive_avg_pool(t):
    adaptive_cases(t, ADAPTIVE_AVG, FLOATS)


@operator("adaptive_avg_pool_grad")
def adaptive_avg_pool_grad(t):
    def case(name, dy, size):
        out = list(dy.shape[2:])
        t.case(name, [dy], reference(lambda dy: pullback(lambda x: ADAPTIVE_AVG[len(out)](x, out), size, dy), dy),
               size=list(size))

    for dtype in FLOATS:
        case(dtype, numbers(dtype, (2, 2, 2, 3)), (4, 5))
        dy = numbers(dtype, (1, 2, 3, 3))
        dy[0, 0, 0, 0], dy[0, 0, 2, 2], dy[0, 1, 0, 1] = np.nan, np.inf, -np.inf
        case(f"{dtype}: nan and infinities", dy, (5, 5))
    case("larger than it was", numbers("f32", (1, 2, 8, 9)), (5, 7))
    case("one dim", numbers("f32", (2, 3, 4)), (9,))
    case("three dims", numbers("f32", (1, 2, 2, 3, 2)), (3, 4, 5))
    t.case("no batch", [np.zeros((0, 3, 2, 2), np.float32)], np.zeros((0, 3, 5, 5), np.float32), size=5)
    t.case("no channels", [np.zeros((2, 0, 2, 2), np.float32)], np.zeros((2, 0, 5, 5), np.float32), size=5)


def unpool(x, indices, size):
    y = np.zeros((*x.shape[:2], int(np.prod(size))), x.dtype)
    for n, c in np.ndindex(*x.shape[:2]):
        inside = (indices[n, c] >= 0) & (indices[n, c] < y.shape[2])
        np.add.at(y[n, c], indices[n, c][inside], x[n, c][inside])
    return y.reshape(*x.shape[:2], *size)


@operator("max_unpool")
def max_unpool(t):
    places = np.array([[[[0, 3], [7, 11]], [[11, 11], [0, 5]]]])
    outside = np.array([[[[0, 12], [-1, 11]], [[1 << 40, 1], [2, -12]]]])
    for dtype in NUMBERS:
        x = numbers(dtype, (1, 2, 2, 2))
        t.case(dtype, [x, places], exact(lambda x: unpool(x, places, (3, 4)), x), size=[3, 4])
    x = numbers("f32", (1, 2, 2, 2))
    t.case("outside the plane", [x, outside], unpool(x, outside, (3, 4)), size=[3, 4])
    for dtype in FLOATS:
        y = array([[[[np.nan, np.inf], [-np.inf, 1]], [[np.inf, -np.inf], [2, 3]]]], dtype)
        t.case(f"{dtype}: nan and infinities", [y, places], exact(lambda y: unpool(y, places, (3, 4)), y), size=[3, 4])
    line, at = numbers("f32", (2, 1, 3)), np.array([[[0, 5, 2]], [[1, 1, 4]]])
    t.case("one dim", [line, at], unpool(line, at, (6,)), size=6)
    cube, at = numbers("f32", (1, 1, 2, 1, 2)), np.array([[[[[0, 17]], [[4, 9]]]]])
    t.case("three dims", [cube, at], unpool(cube, at, (3, 2, 3)), size=[3, 2, 3])
    t.case("no batch", [x[:0], places[:0]], np.zeros((0, 2, 3, 4), np.float32), size=[3, 4])
    t.case("no channels", [x[:, :0], places[:, :0]], np.zeros((1, 0, 3, 4), np.float32), size=[3, 4])
    t.refused("other indices", "x and the indices must have the same dims: 2 and 3",
              "max_unpool(zeros([1, 1, 2]), zeros([1, 1, 3], dtype=i64), 4)")


@operator("plane_gather")
def plane_gather(t):
    def gather(x, indices):
        flat = x.reshape(*x.shape[:2], -1)
        place = indices.reshape(*indices.shape[:2], -1)
        inside = (place >= 0) & (place < flat.shape[2])
        taken = np.take_along_axis(flat, np.where(inside, place, 0), axis=2)
        return np.where(inside, taken, np.zeros((), x.dtype)).astype(x.dtype).reshape(indices.shape)

    places = np.array([[[[0, 3], [7, 11]], [[11, 11], [-1, 12]]]])
    for dtype in ALL:
        x = numbers(dtype, (1, 2, 3, 4))
        t.case(dtype, [x, places], gather(x, places))
    for dtype in FLOATS:
        x = np.resize(specials(dtype), (1, 2, 3, 4))
        t.case(f"{dtype}: nan and infinities", [x, places], gather(x, places))
    line, at = numbers("f32", (2, 1, 3)), np.array([[[0, 2, 2, 1]], [[1, 1, 0, 2]]])
    t.case("one dim", [line, at], gather(line, at))
    cube, at = numbers("f32", (1, 1, 2, 3, 2)), np.array([[[[[0, 11]], [[4, 9]]]]])
    t.case("three dims", [cube, at], gather(cube, at))
    x = numbers("f32", (1, 2, 3, 4))
    t.case("no batch", [x[:0], places[:0]], np.zeros((0, 2, 2, 2), np.float32))
    t.case("no places", [x, np.zeros((1, 2, 2, 0), np.int64)], np.zeros((1, 2, 2, 0), np.float32))
    t.refused("other planes", "x and the indices must have the same planes: 1 and 2",
              "plane_gather(zeros([1, 1, 2]), zeros([1, 2, 3], dtype=i64))")
