"""quantize and dequantize."""

import numpy as np

from cases import *


def along(values, x, axis):
    if values is None or values.ndim == 0:
        return values
    shape = [1] * x.ndim
    shape[axis] = -1
    return values.reshape(shape)


def quantized(x, scale, zero=None, axis=1, dtype="u8"):
    info = np.iinfo(DTYPES[dtype])
    # In the dtype of the kernel's computation, since the quotient may be near a half.
    wide = np.float64 if name_of(x.dtype) == "f64" else np.float32
    with np.errstate(all="ignore"):
        y = np.round(x.astype(wide) / along(scale.astype(wide), x, axis))
        if zero is not None:
            y = y + along(zero.astype(wide), x, axis)
        return array(np.nan_to_num(np.clip(y, info.min, info.max), nan=info.min), dtype)


@operator("quantize")
def quantize(t):
    for real in FLOATS:
        for dtype in ("u8", "i8"):
            x = array([[0, 1, 2.5, 3.5, -0.5], [1000, -1000, 0.25, 0.75, -0.25]], real)
            scale, zero = array(0.5, real), array(3, dtype)
            t.case(f"{real} to {dtype}", [x, scale, zero], quantized(x, scale, zero, dtype=dtype))
            t.case(f"{real} to {dtype}, no zero point", [x, scale], quantized(x, scale, dtype=dtype),
                   dtype=Dim(dtype))
    x = array([np.nan, np.inf, -np.inf, 0, -0.0], "f32")
    scale = array(0.5, "f32")
    t.case("nan and infinities", [x, scale, array(7, "i8")],
           quantized(x, scale, array(7, "i8"), dtype="i8"))
    t.case("u8 without a zero point", [x, scale], quantized(x, scale))
    x = numbers("f32", (2, 3, 4))
    for axis, size in ((1, 3), (-1, 4), (0, 2), (2, 4)):
        scale = numbers("f32", (size,), 0.0625, 1)
        zero = numbers("u8", (size,), 0, 200)
        t.case(f"axis {axis}", [x, scale, zero], quantized(x, scale, zero, axis), axis=axis)
    t.case("halves go to the even one", [array([0.5, 1.5, 2.5, -0.5, -1.5], "f32"), array(1, "f32")],
           array([0, 2, 2, 0, -2], "i8"), dtype=Dim("i8"))
    for shape in [(0,), (2, 0)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), [x, scale[0]], np.zeros(shape, np.uint8))
    t.refused("another dtype", "'zero_point' must be i8",
              "quantize(zeros([2]), 0.5, cast(zeros([]), to=u8), dtype=i8)")
    t.refused("a size that is none of x's", "differs", "quantize(zeros([2, 3]), ones([2]))")
    t.refused("no 8 bits", "dtype", "quantize(zeros([2]), 0.5, dtype=i32)")


@operator("dequantize")
def dequantize(t):
    def want(x, scale, zero=None, axis=1):
        y = x.astype(np.float64) - (0 if zero is None else along(zero.astype(np.float64), x, axis))
        return array(y * along(scale.astype(np.float64), x, axis), name_of(scale.dtype))

    for dtype in ("u8", "i8", "i32"):
        info = np.iinfo(DTYPES[dtype])
        ends = [-300, 700] if dtype == "i32" else [info.min, info.max]
        x = array([ends + [0], [1, 100, 5]], dtype)
        for real in FLOATS:
            scale, zero = array(0.25, real), array(3, dtype)
            t.case(f"{dtype} to {real}", [x, scale, zero], want(x, scale, zero))
            t.case(f"{dtype} to {real}, no zero point", [x, scale], want(x, scale))
    x = numbers("u8", (2, 3, 4), 0, 255)
    for axis, size in ((1, 3), (-1, 4), (0, 2)):
        scale, zero = numbers("f64", (size,), 0.0625, 1), numbers("u8", (size,), 0, 200)
        t.case(f"axis {axis}", [x, scale, zero], want(x, scale, zero, axis), axis=axis)
    for name, value in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf)):
        x, scale = array([0, 1], "u8"), array(value, "f32")
        with np.errstate(all="ignore"):
            t.case(f"a scale of {name}", [x, scale], want(x, scale))
    for shape in [(0,), (2, 0)]:
        x = numbers("i8", shape)
        t.case("empty " + "x".join(map(str, shape)), [x, array(0.5, "f32")],
               np.zeros(shape, np.float32))
    t.refused("another dtype", "dtypes differ",
              "dequantize(cast(zeros([2]), to=i8), 0.5, cast(zeros([]), to=u8))")
