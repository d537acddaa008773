"""Small networks as exporters write them: shapes computed at the run, and operators of many kinds."""

import numpy
from models import BOOL, FLOAT, INT32, INT64, UINT8, RANDOM, Case, floats, helper, make, node, value


def ints(*values):
    return numpy.array(values, "int64")


def integers(name):
    return value(name, None, INT64)


def gru_classifier():
    """Embedded words, a GRU in both directions over rows of their own lengths, the last states to classes."""
    constants = {"table": floats(30, 6), "w": floats(2, 24, 6) * 0.5, "r": floats(2, 24, 8) * 0.5,
                 "b": floats(2, 48) * 0.5, "fc": floats(16, 4), "fb": floats(4), "zero": ints(0), "two": ints(2),
                 "eight": ints(8), "axis0": ints(0), "minus": ints(-1), "i1": numpy.int64(1), "shape": ints(0, -1)}
    nodes = [node("Gather", "table tokens", "e"), node("Transpose", "e", "x", perm=[1, 0, 2]),
             node("Shape", "x", "s"), node("Gather", "s i1", "n"), node("Unsqueeze", "n axis0", "n1"),
             node("Concat", "two n1 eight", "hs", axis=0), node("ConstantOfShape", "hs", "h0"),
             node("Cast", "lengths", "l32", to=INT32),
             node("GRU", "x w r b l32 h0", "y last", hidden_size=8, direction="bidirectional", linear_before_reset=1),
             node("Transpose", "last", "lt", perm=[1, 0, 2]), node("Reshape", "lt shape", "flat"),
             node("Gemm", "flat fc fb", "logits"), node("LogSoftmax", "logits", "out", axis=-1)]
    model = make(nodes, [value("tokens", ["N", "T"], INT64), value("lengths", ["N"], INT64)], ["out"], constants)
    yield Case("GRU classifier", model, [
        {"tokens": RANDOM.integers(0, 30, (n, t)), "lengths": RANDOM.integers(1, t + 1, n)} for n,
                                         t in ((3, 5), (1, 1))])


def lstm_stack():
    """Two layers as torch.nn.LSTM(batch_first=True, num_layers=2) is exported."""
    constants = {"axis1": ints(1), "i0": numpy.int64(0), "axis0": ints(0), "one": ints(1), "eight": ints(8),
                 "zero": numpy.array([0], "float32")}
    nodes = [node("Transpose", "x", "xt", perm=[1, 0, 2]), node("Shape", "x", "s"), node("Gather", "s i0", "n"),
             node("Unsqueeze", "n axis0", "n1"), node("Concat", "one n1 eight", "hs", axis=0),
             node("Expand", "zero hs", "h0")]
    before, width = "xt", 5
    for layer in range(2):
        constants |= {f"w{layer}": floats(1, 32, width) * 0.4, f"r{layer}": floats(1, 32, 8) * 0.4,
                      f"b{layer}": floats(1, 64) * 0.4}
        nodes += [node("LSTM", f"{before} w{layer} r{layer} b{layer} - h0 h0",
                       f"/lstm/LSTM_{layer}_output_0 hn{layer} cn{layer}",
                       hidden_size=8),
                  node("Squeeze", f"/lstm/LSTM_{layer}_output_0 axis1", f"y{layer}")]
        before, width = f"y{layer}", 8
    nodes += [node("Transpose", "y1", "y", perm=[1, 0, 2]), node("Concat", "hn0 hn1", "hn", axis=0)]
    model = make(nodes, [value("x", ["N", "T", 5])], ["y", "hn"], constants)
    yield Case("LSTM stack", model, [{"x": floats(2, 7, 5)}, {"x": floats(1, 1, 5)}])


def decoder():
    """Transposed convolutions, normalization, and resizing to a size that another input has."""
    constants = {"w1": floats(4, 6, 3, 3), "b1": floats(6), "w2": floats(6, 2, 4, 4), "g": floats(6), "be": floats(6),
                 "i": ints(2), "j": ints(4), "nc": ints(0), "c": ints(2),
                 "scales": numpy.array([1, 1, 1.5, 2], "float32"),
                 "twice": numpy.array([1, 1, 2, 3], "float32")}
    nodes = [node("ConvTranspose", "x w1 b1", "h1", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
             node("InstanceNormalization", "h1 g be", "h2"), node("LeakyRelu", "h2", "h3", alpha=0.2),
             node("ConvTranspose", "h3 w2", "h4", strides=[2, 2], pads=[1, 1, 1, 1]),
             node("Shape", "skip", "ss"), node("Slice", "ss i j", "hw"),
             node("Shape", "h4", "hs"), node("Slice", "hs nc c", "front"), node("Concat", "front hw", "sizes", axis=0),
             node("Resize", "h4 - - sizes", "h5", mode="linear", coordinate_transformation_mode="pytorch_half_pixel"),
             node("Add", "h5 skip", "y"),
             node("Resize", "x - scales", "near", mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric"),
             node("Resize", "x - scales", "cubic", mode="cubic", cubic_coeff_a=-0.75,
                  coordinate_transformation_mode="half_pixel"),
             node("Resize", "x - twice", "corners", mode="linear", coordinate_transformation_mode="align_corners")]
    model = make(nodes, [value("x", ["N", 4, "H", "W"]), value("skip", ["N", 2, "A", "B"])],
                 ["y", "near", "cubic", "corners"], constants)
    yield Case("decoder", model, [{"x": floats(1, 4, 4, 6), "skip": floats(1, 2, 19, 21)},
                                  {"x": floats(2, 4, 2, 2), "skip": floats(2, 2, 5, 4)}])


def masked_encoder():
    """Attention spelled out, with a mask expanded as exporters do and positions of as many tokens as there are."""
    constants = {"pos": floats(16, 8), "wq": floats(8, 8), "wk": floats(8, 8), "wv": floats(8, 8), "i0": numpy.int64(0),
                 "i1": numpy.int64(1), "a0": ints(0), "a1": ints(1), "a12": ints(1, 2), "four": ints(4), "two": ints(2),
                 "m1": ints(-1), "inf": numpy.float32(-3.4e38), "fzero": numpy.float32(0), "root": numpy.float32(2.0),
                 "end": ints(1), "eight": ints(8), "gamma": floats(8), "beta": floats(8), "f1": numpy.float32(1)}
    nodes = [node("Shape", "x", "s"), node("Gather", "s i0", "n"), node("Gather", "s i1", "t"),
             node("Unsqueeze", "n a0", "n1"), node("Unsqueeze", "t a0", "t1"), node("Slice", "pos a0 t1 a0", "p"),
             node("Add", "x p", "h")]
    for name in "qkv":
        nodes += [node("MatMul", f"h w{name}", f"{name}f"), node("Concat", "n1 t1 two four", f"{name}s", axis=0),
                  node("Reshape", f"{name}f {name}s", f"{name}r"),
                  node("Transpose", f"{name}r", f"{name}t", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "qt kt", "scores"), node("Div", "scores root", "scaled"),
              node("Unsqueeze", "mask a12", "m4"), node("Concat", "n1 end t1 t1", "ms", axis=0),
              node("Expand", "m4 ms", "wide"), node("Cast", "wide", "mf", to=FLOAT), node("Sub", "f1 mf", "inverse"),
              node("Cast", "inverse", "mb", to=BOOL), node("Where", "mb inf scaled", "filled"),
              node("Softmax", "filled", "weights", axis=-1), node("MatMul", "weights vt", "o"),
              node("Transpose", "o", "ot", perm=[0, 2, 1, 3]), node("Concat", "n1 t1 eight", "os", axis=0),
              node("Reshape", "ot os", "flat"), node("Add", "flat h", "r"),
              node("LayerNormalization", "r gamma beta", "y", axis=-1, epsilon=1e-5)]
    model = make(nodes, [value("x", ["N", "T", 8]), value("mask", ["N", "T"], INT64)], ["y"], constants)
    mask = lambda n, t: (numpy.arange(t) < RANDOM.integers(1, t + 1, n)[:, None]).astype("int64")
    yield Case("masked encoder", model, [{"x": floats(n, t, 8), "mask": mask(n, t)} for n, t in ((2, 6), (1, 1))])


def causal_mask():
    """A mask of positions made by Range, Less and Where, as torch writes it."""
    constants = {"i1": numpy.int64(1), "i0": numpy.int64(0), "a0": ints(0), "a1": ints(1),
                 "low": numpy.float32(-1e9), "zero": numpy.float32(0), "one": ints(1)}
    nodes = [node("Shape", "x", "s"), node("Gather", "s i1", "t"), node("Range", "i0 t i1", "r"),
             node("Unsqueeze", "r a0", "row"), node("Unsqueeze", "r a1", "column"),
             node("Greater", "row column", "later"),
             node("Where", "later low zero", "bias"), node("Transpose", "x", "xt", perm=[0, 2, 1]),
             node("MatMul", "x xt", "p"), node("Add", "p bias", "masked"), node("Softmax", "masked", "a", axis=-1),
             node("MatMul", "a x", "o"), node("Unsqueeze", "t a0", "t1"), node("ConstantOfShape", "tt", "ones",
             value=helper.make_tensor("v", FLOAT, [1], [1.0])), node("Trilu", "ones", "low1", upper=0),
             node("CumSum", "o i1", "y"), node("ReduceSum", "low1", "count", keepdims=0)]
    nodes.insert(13, node("Concat", "t1 t1", "tt", axis=0))
    model = make(nodes, [value("x", ["N", "T", 3])], ["y", "count"], constants)
    yield Case("causal mask", model, [{"x": floats(2, 5, 3)}, {"x": floats(1, 1, 3)}])


def quantized():
    """Dynamic and static quantization, as onnxruntime.quantization writes it."""
    # Values of its own, whatever other cases there are: ONNX Runtime adds integers, so a sum that is halfway between two
    # quanta may be rounded differently.
    random = numpy.random.default_rng(7)
    floats = lambda *sizes: random.standard_normal(sizes).astype("float32")
    scale = lambda *v: numpy.array(v, "float32")
    constants = {"s": numpy.float32(0.05), "z": numpy.uint8(120), "ws": scale(0.01, 0.02, 0.015, 0.03),
                 "wz": numpy.zeros(4, "int8"),
                 "w": random.integers(-100, 100, (4, 3, 3, 3)).astype("int8"),
                 "b": random.integers(-50, 50, 4).astype("int32"),
                 "bs": scale(0.0005, 0.001, 0.00075, 0.0015), "bz": numpy.zeros(4, "int32"), "ys": numpy.float32(0.1),
                 "yz": numpy.uint8(10),
                 "m": random.integers(-100, 100, (6, 5)).astype("int8"), "ms": numpy.float32(0.02), "mz": numpy.int8(3)}
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "xd"),
             node("DequantizeLinear", "w ws wz", "wd", axis=0), node("DequantizeLinear", "b bs bz", "bd", axis=0),
             node("Conv", "xd wd bd", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
             node("QuantizeLinear", "r ys yz", "rq"), node("DequantizeLinear", "rq ys yz", "y")]
    yield Case("QDQ convolution", make(nodes, [value("x", ["N", 3, "H", "W"])], ["y"], constants),
               [{"x": floats(1, 3, 5, 6)}, {"x": floats(2, 3, 3, 3)}])
    nodes = [node("DynamicQuantizeLinear", "x", "q qs qz"), node("MatMulInteger", "q m qz mz", "i"),
             node("Cast", "i", "f", to=FLOAT), node("Mul", "qs ms", "scale"), node("Mul", "f scale", "y")]
    yield Case("dynamic quantization", make(nodes, [value("x", ["N", "T", 6])], ["y"], constants),
               [{"x": floats(2, 3, 6)}, {"x": floats(1, 1, 6)}])
    constants |= {"xs": numpy.float32(0.04), "xz": numpy.uint8(128)}
    nodes = [node("QuantizeLinear", "x xs xz", "q"), node("QLinearConv", "q xs xz w ws wz ys yz b", "y",
                                                          strides=[2, 2]),
             node("QLinearMatMul", "q2 xs xz m ms mz ys yz", "y2"), node("QuantizeLinear", "x2 xs xz", "q2")]
    nodes = [nodes[0], nodes[3], nodes[1], nodes[2]]
    yield Case("QLinear operators", make(nodes, [value("x", ["N", 3, 7, 7]), value("x2", ["N", 6])],
                                         [value("y", None, UINT8), value("y2", None, UINT8)], constants),
               [{"x": floats(2, 3, 7, 7), "x2": floats(2, 6)}])


def beam_search():
    """The best tokens of each row, and what is gathered by them."""
    constants = {"k": ints(3), "m1": ints(-1), "a0": ints(0), "a1": ints(1), "a2": ints(2), "vocab": numpy.int64(7),
                 "i0": numpy.int64(0), "flat": ints(0, -1), "one": ints(1)}
    nodes = [node("LogSoftmax", "x", "p", axis=-1), node("Reshape", "p flat", "f"),
             node("TopK", "f k", "best places", axis=-1, largest=1, sorted=1), node("Div", "places vocab", "beam"),
             node("Mod", "places vocab", "token"), node("Unsqueeze", "beam a2", "b2"),
             node("GatherND", "x b2", "rows", batch_dims=1), node("ArgMax", "x", "top", axis=-1, keepdims=0),
             node("Shape", "x", "s"), node("Gather", "s i0", "n"), node("Unsqueeze", "token a1", "t1"),
             node("GatherElements", "f places", "again", axis=1), node("ReduceMax", "best m1", "m", keepdims=0)]
    model = make(nodes, [value("x", ["N", "B", 7])], ["best", integers("token"), "rows", integers("top"),
                                                      integers("t1"), "again", "m"], constants)
    yield Case("beam search", model, [{"x": floats(2, 4, 7)}, {"x": floats(1, 1, 7)}])


def einsums():
    nodes = [node("Einsum", "q k", "scores", equation="bhid,bhjd->bhij"), node("Softmax", "scores", "a", axis=-1),
             node("Einsum", "a v", "o", equation="bhij,bhjd->bihd"), node("Shape", "o", "s"),
             node("Slice", "s zero two", "bt"), node("Concat", "bt m1", "to", axis=0), node("Reshape", "o to", "y"),
             node("Einsum", "y", "t", equation="bij->bi"), node("Einsum", "y y", "d", equation="...ij,...ij->...i")]
    names = [value(name, ["B", 2, "T", 4]) for name in "qkv"]
    model = make(nodes, names, ["y", "t", "d"], {"zero": ints(0), "two": ints(2), "m1": ints(-1)})
    yield Case("einsum", model, [{name: floats(b, 2, t, 4) for name in "qkv"} for b, t in ((2, 5), (1, 1))])


def attention():
    for kind, kv, causal in (("heads", 4, 1), ("grouped", 2, 0)):
        model = make([node("Attention", "q k v", "y", is_causal=causal)],
                     [value("q", ["N", 4, "T", 8]), value("k", ["N", kv, "S", 8]), value("v", ["N", kv, "S", 8])],
                     ["y"], opset=23)
        feeds = [{"q": floats(n, 4, t, 8), "k": floats(n, kv, s, 8), "v": floats(n, kv, s, 8)}
                 for n, t, s in ((2, 5, 5), (1, 1, 1), (1, 3, 6))[: 2 if causal else 3]]
        yield Case(f"Attention of {kind}", model, feeds)
    nodes = [node("Attention", "q k v mask pk pv", "y kk vv", q_num_heads=2, kv_num_heads=2)]
    model = make(nodes, [value("q", ["N", "T", 8]), value("k", ["N", "T", 8]), value("v", ["N", "T", 8]),
                         value("mask", ["T", "C"]), value("pk", ["N", 2, "P", 4]), value("pv", ["N", 2, "P", 4])],
                 ["y", "kk", "vv"], opset=23)
    n, t, p = 2, 3, 4
    yield Case("Attention with a cache", model, [
        {"q": floats(n, t, 8), "k": floats(n, t, 8), "v": floats(n, t, 8), "mask": floats(t, t + p),
         "pk": floats(n, 2, p, 4), "pv": floats(n, 2, p, 4)}])
    nodes = [node("RMSNormalization", "x g", "n", axis=-1, epsilon=1e-6),
             node("RotaryEmbedding", "n4 cos sin pos", "r"), node("Reshape", "n heads", "n3"),
             node("Transpose", "n3", "n4", perm=[0, 2, 1, 3])]
    nodes = [nodes[0], nodes[2], nodes[3], nodes[1]]
    model = make(nodes, [value("x", ["N", "T", 8]), value("pos", ["N", "T"], INT64)], ["r"],
                 {"g": floats(8), "heads": ints(0, 0, 2, 4), "cos": floats(10, 2), "sin": floats(10, 2)}, opset=23)
    yield Case("RMS norm and rotary embedding", model, [{"x": floats(2, 5, 8), "pos": RANDOM.integers(0, 10, (2, 5))}])


def branches():
    """If with a condition of sizes, and with one of data."""
    def branch(op, name):
        return helper.make_graph([node(op, "x", name)], name, [], [value(name, ["N", "T"])])
    nodes = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum zero", "c"),
             node("If", "c", "y", then_branch=branch("Relu", "a"), else_branch=branch("Neg", "b"))]
    model = make(nodes, [value("x", ["N", "T"])], ["y"], {"zero": numpy.float32(0)})
    yield Case("If of data", model, [{"x": numpy.float32([[1, -0.5]])}, {"x": numpy.float32([[-1, 0.5]])}])
    squeeze = helper.make_graph([node("Squeeze", "x a1", "sq")], "then", [], [value("sq", None)])
    keep = helper.make_graph([node("Identity", "x", "id")], "else", [], [value("id", None)])
    nodes = [node("Shape", "x", "s"), node("Gather", "s i1", "d"), node("Equal", "d one", "is1"),
             node("If", "is1", "y", then_branch=squeeze, else_branch=keep), node("Relu", "y", "z")]
    model = make(nodes, [value("x", ["N", 1, 3])], ["z"], {"a1": ints(1), "i1": numpy.int64(1), "one": numpy.int64(1)})
    yield Case("If of a size, as torch writes squeeze", model, [{"x": floats(2, 1, 3)}])


def scatters():
    constants = {"a0": ints(0), "m1": ints(-1), "i0": numpy.int64(0), "zero": numpy.float32(0),
                 "half": numpy.float32(0.5),
                 "pad": ints(0, 1, 0, 2), "start": ints(-1), "stop": ints(-9223372036854775807), "step": ints(-1),
                 "three": ints(3), "depth": ints(4), "onoff": numpy.float32([0, 1])}
    nodes = [node("NonZero", "x", "nz"), node("Greater", "x half", "big"), node("Where", "big x zero", "w"),
             node("ScatterElements", "x places updates", "se", axis=1, reduction="add"),
             node("Pad", "x pad zero", "p", mode="constant"), node("Pad", "x pad", "pr", mode="reflect"),
             node("Slice", "x start stop m1 step", "flipped"), node("OneHot", "places depth onoff", "oh", axis=-1),
             node("Shape", "x", "s"), node("ReduceProd", "s", "count", keepdims=0),
             node("Cast", "count", "cf", to=FLOAT),
             node("ReduceSum", "x", "sum", keepdims=0), node("Div", "sum cf", "average"),
             node("Tile", "x twice", "tiled"), node("Split", "tiled", "left right", axis=1, num_outputs=2),
             node("Clip", "left zero half", "clipped"), node("Mod", "x half", "rest", fmod=1),
             node("ReduceL2", "x m1", "norm", keepdims=1), node("Div", "x norm", "unit")]
    constants["twice"] = ints(1, 2)
    model = make(nodes, [value("x", ["N", 4]), value("places", ["N", 2], INT64), value("updates", ["N", 2])],
                 ["w", "se", "p", "pr", "flipped", "oh", "average", "right", "clipped", "rest", "unit",
                  integers("nz")], constants)
    yield Case("shapes and places", model, [
        {"x": floats(n, 4), "places": RANDOM.integers(0, 4, (n, 2)), "updates": floats(n, 2)} for n in (3, 1)])


def detector():
    """Boxes decoded from grids of any size, the scores' best ones, and suppression."""
    constants = {"i2": numpy.int64(2), "i3": numpy.int64(3), "i0": numpy.int64(0), "i1": numpy.int64(1),
                 "limit": ints(5), "iou": numpy.float32([0.5]), "least": numpy.float32([0.3]), "to": ints(1, -1, 4),
                 "to2": ints(1, 1, -1)}
    nodes = [node("Sigmoid", "scores", "p"), node("Reshape", "boxes to", "b"), node("Reshape", "p to2", "c"),
             node("NonMaxSuppression", "b c limit iou least", "chosen")]
    model = make(nodes, [value("boxes", [1, "A", 4]), value("scores", [1, 1, "A"])], [integers("chosen")], constants)
    def boxes(images, count):
        corners = RANDOM.random((images, count, 2)).astype("float32")
        return numpy.concatenate([corners, corners + RANDOM.random((images, count, 2)).astype("float32")], axis=2)

    yield Case("NonMaxSuppression", model, [{"boxes": boxes(1, 12), "scores": floats(1, 1, 12)}])
    for box in (0, 1):
        nodes = [node("NonMaxSuppression", "b c limit iou least", "chosen", center_point_box=box)]
        model = make(nodes, [value("b", ["N", "A", 4]), value("c", ["N", "C", "A"])], [integers("chosen")], constants)
        yield Case(f"NonMaxSuppression of classes, center_point_box={box}", model,
                   [{"b": boxes(2, 9), "c": floats(2, 3, 9)}, {"b": boxes(1, 1), "c": floats(1, 2, 1)}])
    nodes = [node("NonMaxSuppression", "b c limit", "chosen")]
    model = make(nodes, [value("b", [1, "A", 4]), value("c", [1, 2, "A"])], [integers("chosen")], constants)
    yield Case("NonMaxSuppression without limits", model, [{"b": boxes(1, 7), "c": floats(1, 2, 7)}])
    constants = {"axes": ints(2, 3), "grid": numpy.float32(1), "one": numpy.float32(1), "i2": numpy.int64(2),
                 "i3": numpy.int64(3),
                 "i0": numpy.int64(0), "i1": numpy.int64(1), "sh": ints(1, 1, -1, 1), "sw": ints(1, 1, 1, -1),
                 "a2": ints(2)}
    nodes = [node("Shape", "x", "s"), node("Gather", "s i2", "h"), node("Gather", "s i3", "w"),
             node("Range", "i0 h i1", "ys"),
             node("Range", "i0 w i1", "xs"), node("Cast", "ys", "yf", to=FLOAT), node("Cast", "xs", "xf", to=FLOAT),
             node("Reshape", "yf sh", "y4"), node("Reshape", "xf sw", "x4"), node("Cast", "h", "hf", to=FLOAT),
             node("Div", "y4 hf", "yn"), node("Add", "x yn", "t"), node("Mul", "t x4", "u"),
             node("GlobalAveragePool", "u", "g"), node("Flatten", "g", "f"),
             node("ReduceMean", "u axes", "m", keepdims=0),
             node("DepthToSpace", "u", "d", blocksize=2), node("MaxPool", "u", "mp", kernel_shape=[2, 2], strides=[2,
                                                                                                                   2],
                                                               ceil_mode=1),
             node("AveragePool", "u", "ap", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=0)]
    yield Case("grid of a detector", make(nodes, [value("x", ["N", 4, "H", "W"])], ["f", "m", "d", "mp", "ap"],
                                          constants),
               [{"x": floats(2, 4, 5, 7)}, {"x": floats(1, 4, 3, 4)}])


def proposals():
    """As many of the best as there are, or 5, as torchvision takes them."""
    constants = {"i1": numpy.int64(1), "a0": ints(0), "k": ints(5), "m1": ints(-1)}
    nodes = [node("Shape", "x", "s"), node("Gather", "s i1", "t"), node("Unsqueeze", "t a0", "t1"),
             node("Concat", "t1 k", "both", axis=0), node("ReduceMin", "both", "least", keepdims=0),
             node("Reshape", "least m1", "count"), node("TopK", "x count", "best places", axis=1),
             node("GatherElements", "x places", "again", axis=1)]
    model = make(nodes, [value("x", ["N", "T"])], ["best", integers("places"), "again"], constants)
    yield Case("proposals", model, [{"x": floats(2, 9)}, {"x": floats(2, 3)}])


def transformer_network():
    """A spatial transformer: a grid of each image."""
    nodes = [node("Shape", "x", "s"), node("AffineGrid", "theta s", "g", align_corners=0),
             node("GridSample", "x g", "y", align_corners=0, padding_mode="border")]
    model = make(nodes, [value("x", ["N", 2, 4, 5]), value("theta", ["N", 2, 3])], ["y"])
    yield Case("spatial transformer", model, [{"x": floats(n, 2, 4, 5), "theta": floats(n, 2, 3)} for n in (1, 3)])


def windows():
    """Padding to a multiple of 4, and expansion as torch writes expand(-1, 3, -1)."""
    constants = {"i2": numpy.int64(2), "four": numpy.int64(4), "one": numpy.int64(1), "a0": ints(0),
                 "zero": numpy.float32(0),
                 "ahead": ints(0, 0, 0, 0, 0), "front": ints(0, 0), "m1": ints(-1), "f4": ints(4),
                 "want": ints(-1, 3, -1),
                 "three": ints(3), "c0": ints(0), "c1": ints(1)}
    nodes = [node("Shape", "x", "s"), node("Gather", "s i2", "t"), node("Add", "t four", "a"),
             node("Sub", "a one", "b"),
             node("Div", "b four", "d"), node("Mul", "d four", "m"), node("Sub", "m t", "p"),
             node("Unsqueeze", "p a0", "p1"),
             node("Concat", "ahead p1", "pads", axis=0), node("Pad", "x pads zero", "padded"),
             node("Concat", "front m1 f4", "shape", axis=0), node("Reshape", "padded shape", "parts"),
             node("ReduceMean", "parts m1", "y", keepdims=0),
             node("ConstantOfShape", "three", "ones", value=helper.make_tensor("v", INT64, [1], [1])),
             node("Mul", "ones m1", "minus"), node("Equal", "want minus", "eq"), node("Where", "eq ones want", "to"),
             node("Slice", "x c0 c1 c1", "first"), node("Expand", "first to", "wide")]
    model = make(nodes, [value("x", ["N", 2, "T"])], ["y", "wide"], constants)
    yield Case("padding to a multiple", model, [{"x": floats(2, 2, 7)}, {"x": floats(1, 2, 8)}])


def translator():
    """An encoder over rows of their own lengths, whose last states begin a decoder that attends to it."""
    constants = {name: 0.4 * floats(*sizes) for name, sizes in {
        "we": (1, 32, 5), "re": (1, 32, 8), "be": (1, 64), "wd": (1, 32, 6), "rd": (1, 32, 8), "bd": (1, 64)}.items()}
    constants["a1"] = ints(1)
    nodes = [node("Transpose", "source", "st", perm=[1, 0, 2]),
             node("LSTM", "st we re be lengths", "ey eh ec", hidden_size=8),
             node("Transpose", "target", "tt", perm=[1, 0, 2]),
             node("LSTM", "tt wd rd bd - eh ec", "dy dh dc", hidden_size=8),
             node("Squeeze", "ey a1", "e"), node("Squeeze", "dy a1", "d"),
             node("Transpose", "e", "keys", perm=[1, 2, 0]),
             node("Transpose", "d", "db", perm=[1, 0, 2]), node("MatMul", "db keys", "scores"),
             node("Softmax", "scores", "p", axis=-1), node("Transpose", "e", "values", perm=[1, 0, 2]),
             node("MatMul", "p values", "context"), node("Concat", "context db", "y", axis=-1)]
    inputs = [value("source", ["N", "S", 5]), value("lengths", ["N"], INT32), value("target", ["N", "T", 6])]
    yield Case("translator", make(nodes, inputs, ["y", "dh", "dc"], constants), [
        {"source": floats(3, 6, 5), "lengths": numpy.array([6, 2, 4], "int32"), "target": floats(3, 4, 6)}])


def gated():
    """A product that is cut into a value and its gate, and a mask of lengths."""
    constants = {"w": 0.3 * floats(8, 16), "dw": 0.3 * floats(8, 1, 5), "i0": numpy.int64(0), "i1": numpy.int64(1),
                 "a0": ints(0), "a1": ints(1), "zero": numpy.float32(0)}
    nodes = [node("MatMul", "x w", "h"), node("Split", "h", "a b", axis=-1, num_outputs=2),
             node("Sigmoid", "b", "gate"),
             node("Mul", "a gate", "glu"), node("Transpose", "glu", "t", perm=[0, 2, 1]),
             node("Conv", "t dw", "c", group=8, pads=[2, 2]), node("Shape", "x", "s"), node("Gather", "s i1", "steps"),
             node("Range", "i0 steps i1", "r"), node("Unsqueeze", "r a0", "row"),
             node("Unsqueeze", "lengths a1", "ends"),
             node("Less", "row ends", "inside"), node("Unsqueeze", "inside a1", "mask"),
             node("Where", "mask c zero", "y")]
    model = make(nodes, [value("x", ["N", "T", 8]), value("lengths", ["N"], INT64)], ["y"], constants)
    yield Case("gated convolution", model, [{"x": floats(2, 7, 8), "lengths": ints(7, 3)},
                                            {"x": floats(1, 2, 8), "lengths": ints(1)}])


def backward_slices():
    """torch.flip over an axis of any size, and steps backward from places within."""
    ends = {"last": -1, "before": -9223372036854775807, "one": -1, "two": -2, "three": 3, "end": 0, "third": -3}
    constants = {name: ints(at) for name, at in ends.items()} | {"axis": ints(1)}
    nodes = [node("Slice", "x last before axis one", "flipped"), node("Slice", "x last before axis two", "every_other"),
             node("Slice", "x three before axis one", "from_three"),
             node("Slice", "x last end axis one", "without_first"),
             node("Slice", "x third before axis two", "from_third"), node("Slice", "x last third axis one", "last_two")]
    names = [name for each in nodes for name in each.output]
    yield Case("steps backward", make(nodes, [value("x", ["N", "T"])], names, constants),
               [{"x": floats(2, t)} for t in (1, 2, 3, 4, 7)])


def cases():
    for make_cases in (gru_classifier, lstm_stack, decoder, masked_encoder, causal_mask, quantized, beam_search,
                       einsums,
                       attention, branches, scatters, detector, proposals, transformer_network, windows, translator,
                       backward_slices, gated):
        yield from make_cases()
