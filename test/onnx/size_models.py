"""Sizes that only a run knows, and those at which there is nothing: slices, ranges, resizing, broadcasting."""

import itertools

import numpy
from models import BOOL, INT64, Case, floats, make, node, value
from onnx.reference import ReferenceEvaluator

LAST, FIRST = 2**63 - 1, -(2**63)


def bounds():
    """(start, end, step) of slices that are empty for some sizes."""
    places = [0, 1, 3, -1, -3, LAST, FIRST + 1, -100, 100]
    for step in (1, 2, -1, -2, 7):
        for start, end in itertools.product(places, places):
            # For ONNX Runtime the largest number means the end in both directions.
            if end != LAST or step > 0:
                yield start, end, step


def sliced(x, start, end, step):
    """As ONNX says: backward, a start before the first element is the first element."""
    size = len(x)
    if size == 0:
        return x
    start, end = (at + size if at < 0 else at for at in (start, end))
    if step > 0:
        start, end = min(max(start, 0), size), min(max(end, 0), size)
    else:
        start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return x[[at for at in range(start, end, step)]]


def slices():
    for sizes in (["D"], [0], [1], [4]):
        for step, some in itertools.groupby(bounds(), key=lambda bound: bound[2]):
            some = list(some)
            nodes, constants = [], {"a": numpy.array([0])}
            for i, (start, end, step) in enumerate(some):
                constants |= {f"s{i}": numpy.array([start]), f"e{i}": numpy.array([end]), f"p{i}": numpy.array([step])}
                nodes.append(node("Slice", f"x s{i} e{i} a p{i}", f"y{i}"))
            model = make(nodes, [value("x", sizes)], [f"y{i}" for i in range(len(some))], constants)
            counts = range(6) if sizes == ["D"] else sizes
            expect = lambda feeds, some=some: [sliced(feeds["x"], *bound) for bound in some]
            yield Case(f"Slice of {sizes[0]} by {step}", model, [{"x": floats(n)} for n in counts], expect)


def slices_by_sizes():
    """Bounds that are computed from sizes."""
    constants = {"a": numpy.array([0]), "one": numpy.array([1]), "three": numpy.array([3])}
    nodes = [node("Shape", "x", "n"), node("Sub", "n one", "less"), node("Sub", "n three", "least"),
             node("Neg", "one", "minus"), node("Slice", "x less n a", "last"), node("Slice", "x one less a", "inner"),
             node("Slice", "x least n a", "three_last"), node("Slice", "x a least a", "front")]

    def expect(feeds):
        x, n = feeds["x"], len(feeds["x"])
        return [sliced(x, n - 1, n, 1), sliced(x, 1, n - 1, 1), sliced(x, n - 3, n, 1), sliced(x, 0, n - 3, 1)]

    model = make(nodes, [value("x", ["D"])], ["last", "inner", "three_last", "front"], constants)
    yield Case("Slice by sizes", model, [{"x": floats(n)} for n in range(7)], expect)


def computed_sizes():
    """Sizes of constants that are computed from other sizes."""
    constants = {"two": numpy.int64(2), "six": numpy.int64(6), "eight": numpy.int64(8)}
    for op, order in itertools.product(("Greater", "Less", "GreaterOrEqual", "LessOrEqual"), ("n six", "six n")):
        nodes = [node("Shape", "x", "n"), node(op, "n six", "c"), node("Where", "c " + order, "size"),
                 node("ConstantOfShape", "size", "y")]
        yield Case(f"ConstantOfShape, {op}, {order}", make(nodes, [value("x", ["N", "M"])], ["y"], constants),
                   [{"x": floats(*sizes)} for sizes in ((5, 6), (6, 7), (1, 9))])
    nodes = [node("Shape", "x", "n"), node("Sub", "n eight", "less"), node("Div", "less two", "half"),
             node("Neg", "half", "minus"), node("Add", "minus six", "size"), node("ConstantOfShape", "size", "y")]
    yield Case("ConstantOfShape, a negative quotient", make(nodes, [value("x", ["N", "M"])], ["y"], constants),
               [{"x": floats(*sizes)} for sizes in ((5, 8), (7, 9), (1, 20))])


def ranges():
    nodes = [node("Shape", "x", "n1"), node("Squeeze", "n1", "n"), node("Range", "n five one", "up"),
             node("Range", "two n one", "from_two"), node("Range", "five n minus", "down"),
             node("Range", "n zero minus2", "half")]
    constants = {"five": numpy.int64(5), "one": numpy.int64(1), "two": numpy.int64(2), "zero": numpy.int64(0),
                 "minus": numpy.int64(-1), "minus2": numpy.int64(-2)}
    outputs = [value(name, None, INT64) for name in ("up", "from_two", "down", "half")]
    expect = lambda feeds: [numpy.arange(*bounds) for n in [len(feeds["x"])]
                            for bounds in ((n, 5, 1), (2, n, 1), (5, n, -1), (n, 0, -2))]
    yield Case("Range between sizes", make(nodes, [value("x", ["D"])], outputs, constants),
               [{"x": floats(n)} for n in range(8)], expect)
    constants = {"a": numpy.int64(7), "b": numpy.int64(3), "one": numpy.int64(1)}
    yield Case("Range of nothing", make([node("Range", "a b one", "y")], [], [value("y", None, INT64)], constants),
               [{}])


def resizes():
    """To sizes that a run knows, by coordinates that depend on them; sizes that a scale does not give exactly."""
    image = [value("x", ["N", 2, "H", "W"])]
    feeds = [{"x": floats(1, 2, 4, 6)}, {"x": floats(2, 2, 5, 3)}, {"x": floats(1, 2, 1, 8)}]
    for coordinates, scales in itertools.product(
            ("half_pixel_symmetric", "align_corners", "tf_half_pixel_for_nn", "half_pixel", "asymmetric"),
            ([1, 1, 2, 3], [1, 1, 1.5, 0.6])):
        modes = ["nearest"] if coordinates == "tf_half_pixel_for_nn" else ["nearest", "linear", "cubic"]
        nodes = [node("Resize", "x - scales", f"y_{mode}", mode=mode, coordinate_transformation_mode=coordinates)
                 for mode in modes]
        model = make(nodes, image, [f"y_{mode}" for mode in modes], {"scales": numpy.array(scales, "float32")})
        # ONNX Runtime and the reference differ if a scale does not give an integer size.
        expect = None
        if coordinates in ("half_pixel_symmetric", "align_corners") and 1.5 in scales:
            expect = lambda feeds, model=model: ReferenceEvaluator(model).run(None, feeds)
        yield Case(f"Resize by {scales}, {coordinates}", model, feeds, expect)
    for coordinates in ("half_pixel_symmetric", "align_corners"):
        nodes = [node("Shape", "like", "sizes")]
        nodes += [node("Resize", "x - - sizes", f"y_{mode}", mode=mode, coordinate_transformation_mode=coordinates)
                  for mode in ("nearest", "linear", "cubic")]
        model = make(nodes, [*image, value("like", ["N", 2, "A", "B"])], ["y_nearest", "y_linear", "y_cubic"])
        yield Case(f"Resize to the size of another input, {coordinates}", model,
                   [{"x": floats(2, 2, 4, 6), "like": floats(2, 2, a, b)} for a, b in ((8, 3), (1, 1), (5, 9))])


def grids():
    """Cubic interpolation at places outside of the image, of which PyTorch and ONNX Runtime think alike."""
    grid = numpy.random.default_rng(3).uniform(-1.7, 1.7, (2, 5, 4, 2)).astype("float32")
    for padding, align in itertools.product(("border", "zeros", "reflection"), (0, 1)):
        for mode in ("cubic", "linear", "nearest"):
            nodes = [node("GridSample", "x grid", "y", mode=mode, padding_mode=padding, align_corners=align)]
            model = make(nodes, [value("x", ["N", 3, "H", "W"]), value("grid", ["N", "A", "B", 2])], ["y"])
            yield Case(f"GridSample, {mode}, {padding}, align_corners={align}", model,
                       [{"x": floats(2, 3, 6, 7), "grid": grid}])
    # f32 does not have the indices of all elements.
    side = 4100
    corner = (2 * (side - numpy.arange(5, 1, -1)) / (side - 1) - 1).astype("float32")
    model = make([node("GridSample", "x grid", "y", mode="nearest", align_corners=1)],
                 [value("x", [1, 1, "H", "W"]), value("grid", [1, 1, 4, 2])], ["y"])
    yield Case("GridSample of a large image", model,
               [{"x": numpy.arange(side, dtype="float32") + numpy.zeros((1, 1, side, 1), "float32"),
                 "grid": numpy.stack([corner, numpy.ones_like(corner)], -1).reshape(1, 1, 4, 2)}])


def layers():
    """What would be a layer, were the width of its input known while importing."""
    rows = [value("x", ["N", "D"])]
    product = [node("MatMul", "x w", "p"), node("Add", "p b", "y")]
    yield Case("product over a width of another name", make(product, rows, ["y"], {"w": floats(4, 8), "b": floats(8)}),
               [{"x": floats(3, 4)}])
    yield Case("Gemm over a width of another name",
               make([node("Gemm", "x w b", "y", transB=1)], rows, ["y"], {"w": floats(8, 4), "b": floats(8)}),
               [{"x": floats(3, 4)}])
    image = [value("x", ["N", "C", "H", "W"])]
    yield Case("convolution of any channels", make([node("Conv", "x w", "y")], image, ["y"], {"w": floats(5, 2, 3, 3)}),
               [{"x": floats(1, 2, 6, 6)}])
    constants = {name: abs(floats(3)) for name in "abcd"}
    yield Case("normalization of any channels",
               make([node("BatchNormalization", "x a b c d", "y")], image, ["y"], constants),
               [{"x": floats(2, 3, 2, 2)}])


def data_sizes():
    """Sizes of results that only the data determine, which other calls read."""
    count = [node("NonZero", "x", "i"), node("Shape", "i", "s"), node("Gather", "s one", "n"),
             node("Cast", "n", "f", to=1)]
    index, rows = lambda name: value(name, None, INT64), [value("x", ["N", 3])]
    constants = {"one": numpy.int64(1)}

    def case(name, nodes, outputs, inputs=(), fed=None):
        some = numpy.array([[-2, 0, 3], [0, 0, 0], [1, 0, -1]], "float32")
        more = {fed: floats(3, 3)} if fed else {}
        return Case("data size " + name, make(nodes, [*rows, *inputs], outputs, constants),
                    [{"x": x} | more for x in (some, 0 * some)])

    yield case("in a sum", [*count[:2], node("ReduceSum", "s", "t", keepdims=0), node("Add", "i t", "y")],
               [index("y")])
    yield case("alone", [*count[:2], node("Cast", "s", "y", to=1)], ["y"])
    yield case("before its values", [*count, node("Div", "x f", "y"), node("Cast", "i", "j", to=1)], ["y", "j"])
    yield case("of a name that is taken", [*count, node("Add", "u f", "y"), node("Cast", "i", "j", to=1)], ["y", "j"],
               [value("u", ["count", 3])], "u")
    # The second size is read before the first one, or the first one not at all.
    second = [node("NonZero", "u", "i2"), node("Shape", "i2", "s2"), node("Gather", "s2 one", "n2"),
              node("Cast", "n2", "f2", to=1)]
    other = [value("u", ["M", 3])], "u"
    yield case("of two", [*count, *second, node("Add", "x f2", "a"), node("Add", "a f", "y"),
                          node("Cast", "i2", "j2", to=1), node("Cast", "i", "j", to=1)], ["y", "j2", "j"], *other)
    yield case("of the second", [count[0], *second, node("Add", "x f2", "y")], ["y"], *other)
    yield case("of the same twice", [*count, node("NonZero", "x", "k"), node("Shape", "k", "s3"),
                                     node("Gather", "s3 one", "n3"), node("Cast", "n3", "f3", to=1), *second,
                                     node("Add", "f f3", "g"), node("Add", "g f2", "h"), node("Add", "x h", "y")],
               ["y"], *other)
    named = [node("NonZero", "x", "count"), node("Shape", "count", "s"), node("Gather", "s one", "rows"),
             node("Cast", "rows", "f", to=1)]
    named += [node("Mul", "x f", "y"), node("Cast", "count", "j", to=1)]
    yield case("of a value of its name", named, ["y", "j"])
    yield case("of an output of its name", named, ["y", index("count")])
    body = make([node("Add", "s e", "s2"), node("Mul", "s2 f", "o")], [value("s", [3]), value("e", [3])], ["s2", "o"])
    body.graph.output[0].type.CopyFrom(value("s", [3]).type)
    body.graph.output[1].type.CopyFrom(value("s", [3]).type)
    constants |= {"three": numpy.int64(3), "zero": numpy.array([0])}
    yield case("in a Scan", [*count, node("ReduceSum", "x zero", "h", keepdims=0),
                             node("Scan", "h x", "a y", body=body.graph, num_scan_inputs=1)], ["a", "y"])
    steps = make([node("NonZero", "v", "i"), *count[1:], node("Add", "v f", "w"), node("Identity", "c", "d")],
                 [value("k", [], INT64), value("c", [], BOOL), value("v", ["N", 3])],
                 [value("d", [], BOOL), value("w", ["N", 3])])
    yield case("in a Loop", [node("Loop", "three - x", "y", body=steps.graph)], ["y"])
    yield case("of an input of its name", [*count, node("Mul", "count f", "y"), node("Cast", "i", "j", to=1)],
               ["y", "j"], [value("count", ["N", 3])], "count")


def expansions():
    """Part of an axis, which has at most one element."""
    constants = {"a": numpy.array([1]), "zero": numpy.array([0]), "one": numpy.array([1]), "three": numpy.array([3])}
    nodes = [node("Slice", "x zero one a", "column"), node("Shape", "x", "t", start=0, end=1),
             node("Concat", "t three", "to", axis=0), node("Expand", "column to", "y")]
    model = make(nodes, [value("x", ["T", "N"])], ["y"], constants)
    yield Case("Expand of a slice", model, [{"x": floats(2, 5)}, {"x": floats(4, 1)}],
               lambda feeds: [numpy.repeat(feeds["x"][:, :1], 3, axis=1)])


def old_resizes():
    """Before operator set 11 the nearest element is the next one where an axis becomes smaller."""
    for scales, rows, columns in (((0.5, 0.6), [0, 2], [0, 2]), ((2, 0.6), [0, 0, 1, 1, 2, 2, 3, 3], [0, 2]),
                                  ((0.6, 1.5), [0, 2], [0, 0, 1, 2, 2, 3])):
        nodes = [node("Resize", "x s", "y", mode="nearest")]
        model = make(nodes, [value("x", [1, 1, 4, 4])], ["y"], {"s": numpy.float32([1, 1, *scales])}, opset=10)
        expect = lambda feeds, rows=rows, columns=columns: [feeds["x"][:, :, rows][:, :, :, columns]]
        yield Case(f"Resize by {scales} in operator set 10", model, [{"x": floats(1, 1, 4, 4)}], expect)


def any_sizes():
    """Some exporters write -1 for a size that only a run knows."""
    model = make([node("Relu", "x", "y")], [value("x", [-1, 3])], ["y"])
    yield Case("a size of -1", model, [{"x": floats(n, 3)} for n in (0, 1, 4)],
               lambda feeds: [numpy.maximum(feeds["x"], 0)])


def cases():
    for make_cases in (slices, slices_by_sizes, computed_sizes, ranges, resizes, grids, layers, data_sizes,
                       expansions, old_resizes, any_sizes):
        yield from make_cases()


def broadcasts():
    """Sizes that turn out to be 1. The text takes what is given to --set for them."""
    nodes = [node("Add", "x y", "total"), node("Mul", "x w", "scaled"), node("Where", "on x y", "chosen"),
             node("Expand", "x six", "wide")]
    constants = {"w": floats(5), "six": numpy.array([5]), "on": numpy.array([True])}
    model = make(nodes, [value("x", ["A"]), value("y", ["B"])], ["total", "scaled", "chosen", "wide"], constants)
    for a, b in ((1, 5), (5, 1), (5, 5), (1, 1)):
        yield Case(f"broadcasting {a} and {b}", model, [{"x": floats(a), "y": floats(b)}]), {"A": a, "B": b}
