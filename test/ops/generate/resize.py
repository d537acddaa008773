"""Resizing by onnx.reference and PyTorch, depth_to_space and space_to_depth by NumPy."""

import numpy as np
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from cases import *
from convolution import reference
from pooling import not_finite

ROUNDING = {"prefer_floor": "round_prefer_floor", "prefer_ceil": "round_prefer_ceil", "floor": "floor", "ceil": "ceil"}


def onnx_resize(x, size=None, scale=None, mode="nearest", coordinates="half_pixel", rounding="prefer_floor",
                cubic_a=-0.75, antialias=False, outside="edge"):
    """ONNX's Resize of the dims behind the first two."""
    rank = x.ndim - 2
    node = helper.make_node("Resize", ["x", "", "scales" if size is None else "", "" if size is None else "sizes"], ["y"],
                            mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=ROUNDING[rounding],
                            cubic_coeff_a=cubic_a, antialias=int(antialias),
                            exclude_outside=int(outside == "skip"))
    inputs = [helper.make_tensor_value_info("x", TensorProto.DOUBLE, None)]
    if size is None:
        inputs.append(helper.make_tensor_value_info("scales", TensorProto.FLOAT, None))
    else:
        inputs.append(helper.make_tensor_value_info("sizes", TensorProto.INT64, None))
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    feed = {"x": np.asarray(x, np.float64)}
    if size is None:
        scales = [scale] * rank if np.isscalar(scale) else scale
        feed["scales"] = np.array([1, 1, *scales], np.float32)
    else:
        feed["sizes"] = np.array([*x.shape[:2], *size], np.int64)
    return ReferenceEvaluator(model).run(None, feed)[0]


@operator("resize")
def resize(t):
    def case(name, x, tol=None, **attributes):
        keywords = dict(attributes)
        if "scales" in keywords:
            keywords["scale"] = keywords.pop("scales")
        if np.isscalar(keywords.get("size")):
            keywords["size"] = [keywords["size"]] * (x.ndim - 2)
        want = onnx_resize(x, **keywords)
        dtype = name_of(x.dtype)
        want = array(want if is_float(dtype) else want.astype(bool if dtype == "bool" else np.int64), dtype)
        t.case(name, [x], want, tol, **attributes)

    for dtype in ALL:
        case(dtype, numbers(dtype, (1, 2, 2, 3)), scale=2.0)
    for dtype in FLOATS:
        case(f"{dtype}, linear", numbers(dtype, (1, 2, 3, 4)), size=[5, 3], mode="linear")
        x = numbers(dtype, (1, 1, 4, 5))
        t.case(f"{dtype}, cubic", [x], reference(lambda x: F.interpolate(x, size=(7, 3), mode="bicubic"), x), size=[7, 3],
               mode="cubic")
    # onnx.reference computes weights in floats.
    for coordinates in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
        for mode in ("nearest", "linear", "cubic"):
            for size in ([7, 3], [1, 2]):
                if (mode, coordinates, size) == ("cubic", "pytorch_half_pixel", [1, 2]):
                    continue  # there onnx.reference departs from ONNX
                x = numbers("f64", (1, 2, 5, 6))
                case(f"{mode}, {coordinates}, {size}", x, 1e-5, size=size, mode=mode, coordinates=coordinates)
    for rounding in ROUNDING:
        case(f"rounding {rounding}, up", numbers("f32", (1, 1, 3, 4)), scale=2.0, rounding=rounding)
        case(f"rounding {rounding}, down", numbers("f32", (1, 1, 6, 8)), scale=0.5, rounding=rounding)
    x = numbers("f32", (1, 2, 6, 5))
    case("a factor for each dim", x, scales=[0.5, 3.0], mode="linear")
    case("a factor that leaves a rest", x, scale=1.5, mode="linear", coordinates="asymmetric")
    case("another cubic", x, 1e-5, size=[8, 9], mode="cubic", cubic_a=-0.5)
    case("one size for both", x, size=4)
    case("one dim", numbers("f32", (2, 3, 4)), size=[7], mode="linear")
    case("three dims", numbers("f32", (1, 2, 2, 3, 2)), size=[3, 2, 4], mode="linear")
    t.case("the same size", [x], x, size=[6, 5], mode="linear")
    for dtype in FLOATS:
        x = not_finite(dtype)
        t.case(f"{dtype}: nan and infinities", [x], reference(lambda x: F.interpolate(x, scale_factor=2), x), scale=2.0)
    x = numbers("f32", (1, 2, 6, 5))
    for mode in ("bilinear", "bicubic"):
        for corners in (False, True):
            want = reference(lambda x: F.interpolate(x, size=(9, 3), mode=mode, align_corners=corners), x)
            t.case(f"PyTorch's {mode}, corners {corners}", [x], want, size=[9, 3],
                   mode={"bilinear": "linear", "bicubic": "cubic"}[mode],
                   coordinates="align_corners" if corners else "half_pixel")
    t.case("PyTorch's nearest", [x], reference(lambda x: F.interpolate(x, size=(9, 3), mode="nearest"), x), size=[9, 3],
           coordinates="asymmetric", rounding="floor")
    for dtype in ("f32", "f64"):
        x = numbers(dtype, (1, 2, 7, 9))
        for mode in ("bilinear", "bicubic"):
            for size in ((3, 4), (2, 12), (9, 2)):
                want = reference(lambda x: F.interpolate(x, size=size, mode=mode, antialias=True), x)
                t.case(f"{dtype}, PyTorch's {mode}, antialiased to {size}", [x], want, size=list(size),
                       mode={"bilinear": "linear", "bicubic": "cubic"}[mode], antialias=True, outside="skip",
                       cubic_a=-0.5)
    for mode in ("linear", "cubic"):
        for coordinates in ("half_pixel", "asymmetric", "align_corners"):
            case(f"ONNX's {mode}, antialiased, {coordinates}", numbers("f64", (1, 2, 7, 9)), 1e-5, size=[3, 4],
                 mode=mode, coordinates=coordinates, antialias=True)
    case("ONNX's cubic without what is outside", numbers("f64", (1, 1, 5, 6)), 1e-5, size=[7, 4], mode="cubic",
         outside="skip")
    t.refused("nothing to spread", "'antialias' requires mode linear or cubic",
              "resize(zeros([1, 1, 4, 4]), size=2, antialias=true)")
    x = numbers("f32", (1, 2, 6, 5))
    t.case("no batch", [x[:0]], np.zeros((0, 2, 12, 10), np.float32), scale=2.0)
    t.case("no channels", [x[:, :0]], np.zeros((1, 0, 12, 10), np.float32), scale=2.0, mode="linear")
    t.refused("no size", "requires exactly one of 'size', 'scale' and 'scales', got none",
              "resize(zeros([1, 1, 2, 2]))")
    t.refused("two sizes", "requires exactly one of 'size', 'scale' and 'scales', got more",
              "resize(zeros([1, 1, 2, 2]), size=3, scale=2)")
    t.refused("integers between", "'x' must be f16, bf16, f32 or f64 where 'mode' is \\\"linear\\\"",
              "resize(zeros([1, 1, 2, 2], dtype=i32), size=3, mode=\"linear\")")
    t.refused("nothing to resize", "a dim without elements cannot be resized", "resize(zeros([1, 1, 0, 2]), size=3)")
    t.refused("too few factors", "'scales' must have one entry for each of 2 dims, got 1",
              "resize(zeros([1, 1, 2, 2]), scales=[2.0])")


@operator("resize_grad")
def resize_grad(t):
    def case(name, dy, before, tol=None, run=None, **attributes):
        """`run`: what PyTorch is told of a call that gives dy its size."""
        def function(dy):
            x = torch.zeros((*dy.shape[:2], *before), dtype=torch.float64, requires_grad=True)
            y = F.interpolate(x, size=tuple(dy.shape[2:]), **(run or {"mode": "nearest-exact"}))
            return torch.autograd.grad(y, x, dy)[0]
        size = {} if "scale" in attributes or "scales" in attributes else {"size": list(dy.shape[2:])}
        t.case(name, [dy], reference(function, dy), tol, before=list(before), **size, **attributes)

    linear, cubic = {"mode": "bilinear"}, {"mode": "bicubic"}
    for dtype in FLOATS:
        case(dtype, numbers(dtype, (1, 2, 4, 6)), (2, 3))
        case(f"{dtype}, linear", numbers(dtype, (1, 2, 5, 3)), (3, 4), run=linear, mode="linear")
        case(f"{dtype}, cubic", numbers(dtype, (1, 1, 7, 3)), (4, 5), run=cubic, mode="cubic")
        dy = not_finite(dtype)
        dy[0, 0, 0, 1] = -1
        case(f"{dtype}: nan and infinities", dy, (2, 3))
    dy = numbers("f64", (1, 2, 7, 4))
    for mode, name in (("linear", "bilinear"), ("cubic", "bicubic")):
        case(f"{mode}, corners", dy, (5, 6), run={"mode": name, "align_corners": True}, mode=mode,
             coordinates="align_corners")
        case(f"{mode}, pytorch_half_pixel", dy, (5, 6), run={"mode": name}, mode=mode, coordinates="pytorch_half_pixel")
    dy = numbers("f32", (1, 2, 7, 4))
    case("asymmetric", dy, (5, 6), run={"mode": "nearest"}, coordinates="asymmetric", rounding="floor")
    case("a factor", numbers("f32", (1, 2, 6, 4)), (3, 2), scale=2.0)
    case("a factor, rounded", numbers("f32", (1, 2, 6, 4)), (3, 2), scale=2.0, rounding="prefer_ceil")
    case("a factor for each dim", numbers("f32", (1, 2, 6, 6)), (3, 2), scales=[2.0, 3.0])
    want = np.zeros((1, 2, 3, 2))
    y = dy[:, :, :6].astype(np.float64)
    for o in range(6):
        for p in range(4):
            want[:, :, min((o + 1) // 2, 2), min((p + 1) // 2, 1)] += y[:, :, o, p]
    t.case("rounding ceil", [dy[:, :, :6]], array(want, "f32"), before=[3, 2], size=[6, 4], coordinates="asymmetric",
           rounding="ceil")
    one = np.ones((1, 1, 2), np.float32)
    t.case("another cubic", [one], array([[[1.0, 1.0]]], "f32"), before=[2], size=[2], mode="cubic", cubic_a=-0.5)
    for mode, name in (("linear", "bilinear"), ("cubic", "bicubic")):
        case(f"{mode}, antialiased", numbers("f64", (1, 2, 3, 4)), (7, 6), run={"mode": name, "antialias": True},
             mode=mode, antialias=True, outside="skip", cubic_a=-0.5)
    case("one dim", numbers("f32", (2, 3, 7)), (4,), run={"mode": "linear"}, mode="linear")
    case("three dims", numbers("f32", (1, 2, 3, 2, 4)), (2, 3, 2), run={"mode": "trilinear"}, mode="linear")
    t.case("no batch", [dy[:0]], np.zeros((0, 2, 5, 6), np.float32), before=[5, 6], size=[7, 4])
    t.case("no channels", [dy[:, :0]], np.zeros((1, 0, 5, 6), np.float32), before=[5, 6], size=[7, 4])
    t.refused("another size", "'dy' must have the resized size: 6 and 7",
              "resize_grad(zeros([1, 1, 7, 4]), before=[3, 2], scale=2)")


def blocks(x, block, mode):
    """depth_to_space, of any count of dims."""
    batch, channels, *size = x.shape
    rank = len(size)
    places = [block] * rank
    count = channels // block ** rank
    if mode == "dcr":
        x = x.reshape(batch, *places, count, *size)
        order = [0, rank + 1]
        place, at = 1, rank + 2
    else:
        x = x.reshape(batch, count, *places, *size)
        order = [0, 1]
        place, at = 2, rank + 2
    for i in range(rank):
        order += [at + i, place + i]
    return x.transpose(order).reshape(batch, count, *[s * block for s in size])


@operator("depth_to_space")
def depth_to_space(t):
    def case(name, x, block=2, mode="dcr"):
        t.case(name, [x], blocks(x, block, mode), block=block, mode=mode)

    for dtype in ALL:
        case(dtype, numbers(dtype, (2, 8, 2, 3)))
        case(f"{dtype}, crd", numbers(dtype, (2, 8, 2, 3)), mode="crd")
    x = numbers("f32", (1, 18, 2, 1))
    case("blocks of 3", x, 3)
    t.case("PyTorch's pixel_shuffle", [x], reference(lambda x: F.pixel_shuffle(x, 3), x), block=3, mode="crd")
    for mode in ("dcr", "crd"):
        case(f"one dim, {mode}", numbers("f32", (2, 6, 3)), mode=mode)
        case(f"three dims, {mode}", numbers("f32", (1, 16, 2, 1, 3)), mode=mode)
    case("nan and infinities", np.resize(specials(), (1, 4, 2, 3)))
    case("no batch", x[:0], 3)
    case("no places", x[:, :, :0], 3)
    t.refused("channels that do not fit", "the number of channels must be a multiple of the block's elements: 6 and 4",
              "depth_to_space(zeros([1, 6, 2, 2]), 2)")


@operator("space_to_depth")
def space_to_depth(t):
    def case(name, x, block=2, mode="dcr"):
        t.case(name, [blocks(x, block, mode)], x, block=block, mode=mode)

    for dtype in ALL:
        case(dtype, numbers(dtype, (2, 8, 2, 3)))
        case(f"{dtype}, crd", numbers(dtype, (2, 8, 2, 3)), mode="crd")
    x = numbers("f32", (1, 2, 6, 3))
    t.case("PyTorch's pixel_unshuffle", [x], reference(lambda x: F.pixel_unshuffle(x, 3), x), block=3, mode="crd")
    for mode in ("dcr", "crd"):
        case(f"one dim, {mode}", numbers("f32", (2, 6, 3)), mode=mode)
        case(f"three dims, {mode}", numbers("f32", (1, 16, 2, 1, 3)), mode=mode)
    case("nan and infinities", np.resize(specials(), (1, 4, 2, 3)))
    case("no batch", np.zeros((0, 8, 2, 3), np.float32))
    case("no places", np.zeros((2, 8, 0, 3), np.float32))
    t.refused("a size that does not fit", "each spatial size must be a multiple of the block's: 3 and 2",
              "space_to_depth(zeros([1, 1, 3, 2]), 2)")
