"""Convolutions, transposed ones, and windows as columns, by PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import *

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
# The error of a sum of a few hundred products of rounded numbers.
TOL = {"f32": 1e-5, "f64": 1e-13, "f16": 2e-3, "bf16": 1.6e-2}


def reference(function, *arrays, **attributes):
    """function(arrays) in double precision, rounded to the first array's dtype."""
    def widen(x):
        return None if x is None else torch.tensor(np.asarray(x, np.float64))
    result = function(*[widen(x) for x in arrays], **attributes).numpy()
    dtype = name_of(arrays[0].dtype)
    return array(result if is_float(dtype) else result.astype(np.int64), dtype)


def tolerance(dtype):
    return TOL.get(dtype)


def padded(x, pads, value=0.0):
    """x with (begin, end) for each spatial dim added."""
    flat = [side for pair in reversed(pads) for side in pair]
    return F.pad(x, flat, value=value)


def conv_cases(t, rank):
    size = [(7,), (5, 6), (3, 4, 3)][rank - 1]
    window = [(3,), (3, 2), (2, 2, 1)][rank - 1]
    batch = 2 if rank < 3 else 1
    conv = CONV[rank]

    def case(name, x, w, bias=None, pads=None, tol=None, run=None, **attributes):
        def function(x, w, bias):
            x = x if pads is None else padded(x, pads)
            return conv(x, w, bias, **(run or {}))
        arrays = [x, w] + ([] if bias is None else [bias])
        t.case(name, arrays, reference(lambda x, w, b=None: function(x, w, b), *arrays),
               tol or tolerance(name_of(x.dtype)), **attributes)

    def operands(dtype, groups=1, features=4, channels=2, seed=0):
        return (numbers(dtype, (batch, channels) + size, -2, 2, seed=seed),
                numbers(dtype, (features, channels // groups) + window, -2, 2, seed=seed + 1),
                numbers(dtype, (features,), -2, 2, seed=seed + 2))

    for dtype in NUMBERS:
        case(dtype, *operands(dtype))
    for dtype in ("f32", "f64", "i32"):
        x, w, bias = operands(dtype)
        case(f"{dtype}, no bias", x, w)
        case(f"{dtype}, strides", x, w, bias, run={"stride": 2}, stride=2)
        case(f"{dtype}, padding", x, w, bias, run={"padding": 1}, pad=1)
        case(f"{dtype}, dilation", x, w, bias, [(1, 1)] * rank, run={"dilation": 2}, dilation=2, pad=1)
        case(f"{dtype}, groups", *operands(dtype, 2), run={"groups": 2}, groups=2)
        case(f"{dtype}, depthwise", *operands(dtype, 4, 8, 4), run={"groups": 4}, groups=4)
        case(f"{dtype}, a pair for each dim", x, w, bias, [(0, 2), (1, 0), (2, 1)][:rank],
             pad=[0, 2, 1, 0, 2, 1][:2 * rank])
    x, w, bias = operands("f32")
    strides, pads, dilations = (2, 1, 3)[:rank], (1, 0, 2)[:rank], (1, 2, 2)[:rank]
    if rank > 1:
        case("each dim its own", x, w, bias, run=dict(stride=strides, padding=pads, dilation=dilations),
             stride=list(strides), pad=list(pads), dilation=list(dilations))
    for word, upper in (("same", True), ("same_lower", False)):
        for stride in (1, 2):
            pads = []
            for s, k in zip(size, window):
                total = max((-(-s // stride) - 1) * stride + k - s, 0)
                pads.append((total // 2, total - total // 2) if upper else (total - total // 2, total // 2))
            case(f"{word}, stride {stride}", x, w, bias, pads, run={"stride": stride}, stride=stride, pad=word)
    case("valid", x, w, bias, pad="valid")
    # Non-finite values, one at a time.
    for value in (np.nan, np.inf, -np.inf):
        y = x.copy()
        y.flat[7] = value
        case(f"{value} in x", y, np.abs(w) + 1, bias)
    case("no batch", x[:0], w, bias)
    left = tuple(s - k + 1 for s, k in zip(size, window))
    t.case("no channels", [x[:, :0], w[:, :0], bias],
           np.broadcast_to(bias.reshape((1, 4) + (1,) * rank), (batch, 4) + left).astype(np.float32))
    t.case("no features", [x, w[:0], bias[:0]], np.zeros((batch, 0) + left, np.float32))
    if rank < 3:
        larger = numbers("f32", (2, 16) + (5, 4)[:rank], -1, 1)
        case("many channels", larger, numbers("f32", (16, 16) + window, -1, 1), tol=1e-4)
    dims = ", ".join(map(str, size))
    kernel = ", ".join(map(str, window))
    name = f"conv{rank}d"
    t.refused("channels that differ", "the numbers of channels of x and w differ: 2 and 3",
              f"{name}(zeros([1, 2, {dims}]), zeros([4, 3, {kernel}]))")
    t.refused("groups that do not fit", "the number of channels must be a multiple of 'groups'",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 1, {kernel}]), groups=2)")
    t.refused("a window that is too large", "the window must fit into the padded size",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 2, {', '.join(['9'] * rank)}]))")
    t.refused("stride 0", "'stride' must be at least 1, got 0",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 2, {kernel}]), stride=0)")
    t.refused("a negative padding", "'pad' must be at least 0, got -1",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 2, {kernel}]), pad=-1)")
    t.refused("a bias that does not fit", "'bias' must have one element per channel: 2 and 3",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 2, {kernel}]), zeros([2]))")
    t.refused("dtypes that differ", "dtypes differ: f32 and f64",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 2, {kernel}], dtype=f64))")


def conv_transpose_cases(t, rank):
    size = [(4,), (3, 3), (2, 2, 2)][rank - 1]
    window = [(3,), (3, 2), (2, 2, 2)][rank - 1]
    batch = 2 if rank < 3 else 1
    conv = TRANSPOSED[rank]

    def case(name, x, w, bias=None, crop=None, run=None, tol=None, **attributes):
        """`crop`: what the padding takes away, where PyTorch cannot say it."""
        def function(x, w, bias=None):
            y = conv(x, w, bias, **(run or {}))
            for dim, (begin, end) in enumerate(crop or []):
                y = y.narrow(dim + 2, begin, y.shape[dim + 2] - begin - end)
            return y
        arrays = [x, w] + ([] if bias is None else [bias])
        t.case(name, arrays, reference(function, *arrays), tol or tolerance(name_of(x.dtype)), **attributes)

    def operands(dtype, groups=1, features=4, channels=2, seed=0):
        return (numbers(dtype, (batch, channels) + size, -2, 2, seed=seed),
                numbers(dtype, (channels, features // groups) + window, -2, 2, seed=seed + 1),
                numbers(dtype, (features,), -2, 2, seed=seed + 2))

    for dtype in NUMBERS:
        case(dtype, *operands(dtype))
    for dtype in ("f32", "f64", "i32"):
        x, w, bias = operands(dtype)
        case(f"{dtype}, no bias", x, w)
        case(f"{dtype}, strides", x, w, bias, run={"stride": 2}, stride=2)
        case(f"{dtype}, padding", x, w, bias, run={"stride": 2, "padding": 1}, stride=2, pad=1)
        case(f"{dtype}, more at the end", x, w, bias, run={"stride": 2, "output_padding": 1}, stride=2,
             output_padding=1)
        case(f"{dtype}, dilation", x, w, bias, run={"dilation": 2, "padding": 1}, dilation=2, pad=1)
        case(f"{dtype}, groups", *operands(dtype, 2), run={"groups": 2}, groups=2)
        case(f"{dtype}, depthwise", *operands(dtype, 4, 4, 4), run={"groups": 4}, groups=4)
        case(f"{dtype}, a pair for each dim", x, w, bias, [(0, 2), (1, 0), (1, 1)][:rank], {"stride": 2},
             stride=2, pad=[0, 2, 1, 0, 1, 1][:2 * rank])
        wanted = [2 * (s - 1) + k + 1 for s, k in zip(size, window)]
        case(f"{dtype}, a size", x, w, bias, run={"stride": 2, "output_padding": 1}, stride=2, size=wanted)
    x, w, bias = operands("f32")
    for word, upper in (("same", True), ("same_lower", False)):
        for stride in (1, 2):
            crop = []
            for k in window:
                total = max(k - stride, 0)
                crop.append((total // 2, total - total // 2) if upper else (total - total // 2, total // 2))
            if stride == 2 and min(window) < 2:
                continue
            case(f"{word}, stride {stride}", x, w, bias, crop, {"stride": stride}, stride=stride, pad=word)
    case("valid", x, w, bias, pad="valid")
    for value in (np.nan, np.inf, -np.inf):
        y = x.copy()
        y.flat[5] = value
        case(f"{value} in x", y, np.abs(w) + 1, bias)
    case("no batch", x[:0], w, bias)
    t.case("no channels", [x[:, :0], w[:0], bias],
           np.broadcast_to(bias.reshape((1, 4) + (1,) * rank),
                           (batch, 4) + tuple(s + k - 1 for s, k in zip(size, window))).astype(np.float32))
    if rank < 3:
        larger = numbers("f32", (2, 16) + (3, 2)[:rank], -1, 1)
        case("many channels", larger, numbers("f32", (16, 16) + window, -1, 1), tol=1e-4, run={"stride": 2}, stride=2)
    dims, kernel = ", ".join(map(str, size)), ", ".join(map(str, window))
    name = f"conv_transpose{rank}d"
    t.refused("channels that differ", "the numbers of channels of x and w differ: 2 and 3",
              f"{name}(zeros([1, 2, {dims}]), zeros([3, 4, {kernel}]))")
    t.refused("too much at the end", "'output_padding' must be less than the stride 2, got 2",
              f"{name}(zeros([1, 2, {dims}]), zeros([2, 4, {kernel}]), stride=2, output_padding=2)")
    t.refused("a size that cannot be", "a convolution of 'size' must have the size of x",
              f"{name}(zeros([1, 2, {dims}]), zeros([2, 4, {kernel}]), size=9)")


for rank in (1, 2, 3):
    operator(f"conv{rank}d")(lambda t, rank=rank: conv_cases(t, rank))
    operator(f"conv_transpose{rank}d")(lambda t, rank=rank: conv_transpose_cases(t, rank))


@operator("conv_weight_grad")
def conv_weight_grad(t):
    def case(name, x, dy, kernel, pads=None, tol=None, run=None, **attributes):
        groups = (run or {}).get("groups", 1)
        rank = x.ndim - 2

        def function(x, dy):
            w = torch.zeros((dy.shape[1], x.shape[1] // groups, *kernel), dtype=torch.float64, requires_grad=True)
            y = CONV[rank](x if pads is None else padded(x, pads), w, **(run or {}))
            return torch.autograd.grad(y, w, dy)[0]
        t.case(name, [x, dy], reference(function, x, dy), tol or tolerance(name_of(x.dtype)), kernel=list(kernel),
               **attributes)

    def operands(dtype, out=(4, 5), channels=2, features=4):
        return numbers(dtype, (2, channels, 5, 6), -2, 2), numbers(dtype, (2, features) + out, -2, 2, seed=1)

    for dtype in NUMBERS:
        case(dtype, *operands(dtype), (2, 2))
    for dtype in ("f32", "f64", "i32"):
        case(f"{dtype}, strides", *operands(dtype, (2, 3)), (2, 2), run={"stride": 2}, stride=2)
        case(f"{dtype}, padding", *operands(dtype, (5, 6)), (3, 3), run={"padding": 1}, pad=1)
        case(f"{dtype}, dilation", *operands(dtype, (3, 4)), (2, 2), run={"dilation": 2}, dilation=2)
        case(f"{dtype}, groups", *operands(dtype), (2, 2), run={"groups": 2}, groups=2)
        case(f"{dtype}, depthwise", *operands(dtype, channels=4, features=8), (2, 2), run={"groups": 4}, groups=4)
    case("same", *operands("f32", (5, 6)), (2, 3), [(0, 1), (1, 1)], pad="same")
    case("same_lower", *operands("f32", (5, 6)), (2, 3), [(1, 0), (1, 1)], pad="same_lower")
    case("valid", *operands("f32"), (2, 2), pad="valid")
    case("one dim", numbers("f32", (2, 3, 7)), numbers("f32", (2, 2, 5)), (3,))
    case("three dims", numbers("f32", (2, 2, 3, 4, 3)), numbers("f32", (2, 3, 2, 3, 2)), (2, 2, 2))
    case("many channels", numbers("f32", (2, 16, 4, 5), -1, 1), numbers("f32", (2, 16, 2, 3), -1, 1), (3, 3), tol=1e-4)
    for value in (np.nan, np.inf, -np.inf):
        x, dy = operands("f32")
        x.flat[7] = value
        case(f"{value} in x", x, np.abs(dy) + 1, (2, 2))
    x, dy = operands("f32")
    t.case("no batch", [x[:0], dy[:0]], np.zeros((4, 2, 2, 2), np.float32), kernel=2)
    t.case("no channels", [x[:, :0], dy], np.zeros((4, 0, 2, 2), np.float32), kernel=2)
    t.refused("another size", "'dy' must have the size of the convolution's result: 4 and 5",
              "conv_weight_grad(zeros([1, 2, 5, 5]), zeros([1, 2, 5, 4]), kernel=2)")


@operator("im2col")
def im2col(t):
    def case(name, x, kernel, run=None, **attributes):
        t.case(name, [x], reference(lambda x: F.unfold(x, kernel, **(run or {})), x), kernel=attributes.pop("text", list(kernel)),
               **attributes)

    for dtype in ALL:
        case(dtype, numbers(dtype, (2, 2, 3, 4)), (2, 2))
    x = numbers("f32", (1, 3, 4, 5))
    case("strides", x, (2, 3), {"stride": (2, 1)}, stride=[2, 1])
    case("padding", x, (3, 3), {"padding": 1}, pad=1, text=3)
    case("dilation", x, (2, 2), {"dilation": 2}, dilation=2)
    same = reference(lambda x: F.unfold(padded(x, [(0, 1), (0, 1)]), (2, 2)), x)
    t.case("same", [x], same, kernel=2, pad="same")
    t.case("same_lower", [x], reference(lambda x: F.unfold(padded(x, [(1, 0), (1, 0)]), (2, 2)), x), kernel=2,
           pad="same_lower")
    t.case("valid", [x], reference(lambda x: F.unfold(x, (2, 2)), x), kernel=2, pad="valid")
    line = numbers("f32", (2, 3, 7))
    t.case("one dim", [line], reference(lambda x: F.unfold(x[:, :, None], (1, 3)), line), kernel=3)
    cube = numbers("f32", (1, 2, 3, 3, 4))
    windows = np.lib.stride_tricks.sliding_window_view(cube, (2, 2, 2), axis=(2, 3, 4))
    t.case("three dims", [cube], windows.transpose(0, 1, 5, 6, 7, 2, 3, 4).reshape(1, 16, 12), kernel=2)
    y = np.resize(specials(), (1, 1, 3, 4))
    case("nan and infinities", y, (2, 2))
    t.case("no batch", [x[:0]], np.zeros((0, 12, 12), np.float32), kernel=2)
    t.case("no channels", [x[:, :0]], np.zeros((1, 0, 12), np.float32), kernel=2)
    t.refused("a window that is too large", "the window must fit into the padded size: 3 is less than 4",
              "im2col(zeros([1, 1, 3, 3]), kernel=4)")
    t.refused("a matrix", "'x' must be [N, C, ...] with 1 to 3 spatial dims", "im2col(zeros([3, 3]), kernel=2)")


@operator("col2im")
def col2im(t):
    def case(name, x, size, kernel, run=None, tol=None, **attributes):
        t.case(name, [x], reference(lambda x: F.fold(x, size, kernel, **(run or {})), x), tol, size=list(size),
               kernel=list(kernel), **attributes)

    for dtype in NUMBERS:
        case(dtype, numbers(dtype, (2, 8, 6), -2, 2), (3, 4), (2, 2))
    case("strides", numbers("f32", (2, 12, 6)), (4, 5), (2, 3), {"stride": (2, 1)}, stride=[2, 1])
    case("padding", numbers("f32", (1, 9, 20), seed=1), (4, 5), (3, 3), {"padding": 1}, pad=1)
    case("dilation", numbers("f32", (1, 8, 6)), (4, 5), (2, 2), {"dilation": 2}, dilation=2)
    case("valid", numbers("f32", (1, 4, 6)), (3, 4), (2, 2), pad="valid")
    x = numbers("f32", (1, 4, 12))
    for word, at in (("same", 0), ("same_lower", 1)):
        def fold(x, at=at):
            return F.fold(x, (4, 5), (2, 2))[:, :, at:at + 3, at:at + 4]
        t.case(word, [x], reference(fold, x), size=[3, 4], kernel=2, pad=word)
    line = numbers("f32", (1, 6, 5))
    t.case("one dim", [line], reference(lambda x: F.fold(x, (1, 7), (1, 3))[:, :, 0], line), size=7, kernel=3)
    case("nan and infinities", np.resize(specials(), (1, 4, 6)), (3, 4), (2, 2))
    t.case("no batch", [np.zeros((0, 4, 6), np.float32)], np.zeros((0, 1, 3, 4), np.float32), size=[3, 4], kernel=2)
    t.case("no channels", [np.zeros((2, 0, 6), np.float32)], np.zeros((2, 0, 3, 4), np.float32), size=[3, 4], kernel=2)
    t.refused("another count", "the number of columns must be the number of windows: 5 and 6",
              "col2im(zeros([1, 4, 5]), size=[3, 4], kernel=2)")
    t.refused("rows that do not fit", "the number of rows must be a multiple of the kernel's elements",
              "col2im(zeros([1, 5, 6]), size=[3, 4], kernel=2)")
