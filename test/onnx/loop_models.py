"""Scan and Loop over as many steps as there are when it runs."""

import numpy
from models import BOOL, FLOAT, INT64, Case, floats, helper, make, node, value


def graph(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def scans():
    body = graph([node("Mul", "s decay", "kept"), node("Add", "kept x", "next"), node("Identity", "next", "y"),
                  node("Sub", "x z", "d")],
                 [value("s", [4]), value("x", [4]), value("z", [4])],
                 [value("next", [4]), value("y", [4]), value("d", [4])])
    for sizes in (["T"], [7], [300]):
        for axes, directions in (([0, 0], [0, 0]), ([0, 0], [1, 1]), ([1, 0], [0, 1]), ([-1, 0], [1, 0])):
            scan = node("Scan", "s0 a b", "last ys ds", body=body, num_scan_inputs=2, scan_input_axes=axes,
                        scan_input_directions=directions, scan_output_axes=[1, 0], scan_output_directions=[0, 1])
            a = [4] + sizes if axes[0] else sizes + [4]
            model = make([scan], [value("s0", [4]), value("a", a), value("b", sizes + [4])], ["last", "ys", "ds"],
                         {"decay": numpy.float32(0.5)})
            counts = [1, 9] if sizes == ["T"] else sizes
            feeds = [{"s0": floats(4), "a": floats(*[n if s == "T" else s for s in a]), "b": floats(n, 4)}
                     for n in counts]
            yield Case(f"Scan over {sizes[0]} steps, axes {axes}, directions {directions}", model, feeds)


def loops():
    """As torch.jit.script writes `for t in range(x.size(0))`."""
    body = graph([node("Gather", "x t", "row", axis=0), node("MatMul", "h w", "product"),
                  node("Add", "row product", "sum"), node("Tanh", "sum", "next"), node("Identity", "go", "on"),
                  node("Identity", "next", "y")],
                 [value("t", [], INT64), value("go", [], BOOL), value("h", ["N", 4])],
                 [value("on", [], BOOL), value("next", ["N", 4]), value("y", ["N", 4])])
    shape = [node("Shape", "x", "shape"), node("Gather", "shape zero", "steps", axis=0)]
    constants = {"zero": numpy.int64(0), "yes": numpy.array(True), "w": 0.5 * floats(4, 4)}
    loop = node("Loop", "steps yes h0", "last ys", body=body)
    model = make([*shape, loop], [value("x", ["T", "N", 4]), value("h0", ["N", 4])], ["last", "ys"], constants)
    yield Case("Loop over T steps", model, [{"x": floats(t, n, 4), "h0": floats(n, 4)} for t, n in ((1, 1), (5, 3))])
    model = make([*shape, loop], [value("x", [300, 2, 4]), value("h0", [2, 4])], ["last", "ys"], constants)
    yield Case("Loop over 300 steps", model, [{"x": floats(300, 2, 4), "h0": floats(2, 4)}])
    # Captured values have the same sizes inside the body.
    body = graph([node("Shape", "x", "s"), node("Slice", "s one two", "n"), node("Expand", "row n", "wide"),
                  node("Add", "h wide", "next"), node("Identity", "go", "on")],
                 [value("t", [], INT64), value("go", [], BOOL), value("h", ["N"])],
                 [value("on", [], BOOL), value("next", ["N"])])
    constants |= {"one": [1], "two": [2], "row": numpy.array([2.5], "float32")}
    model = make([*shape, node("Loop", "steps yes h0", "last", body=body)],
                 [value("x", ["T", "N"]), value("h0", ["N"])], ["last"], constants)
    yield Case("Loop that asks for a size of what is outside", model, [{"x": floats(4, 3), "h0": floats(3)}])


def whiles():
    """As tf2onnx writes tf.while_loop: as many steps as can be, and a condition that the body computes."""
    body = graph([node("Gather", "x i", "row", axis=0), node("Add", "h row", "sum"), node("Tanh", "sum", "next"),
                  node("Add", "i one", "j"), node("Less", "j steps", "on")],
                 [value("t", [], INT64), value("go", [], BOOL), value("i", [], INT64), value("h", ["N"])],
                 [value("on", [], BOOL), value("j", [], INT64), value("next", ["N"])])
    nodes = [node("Shape", "x", "shape"), node("Gather", "shape zero", "steps"), node("Less", "zero steps", "go0"),
             node("Loop", "most go0 zero h0", "end last", body=body)]
    constants = {"zero": numpy.int64(0), "one": numpy.int64(1), "most": numpy.int64(2**31 - 1)}
    model = make(nodes, [value("x", [6, "N"]), value("h0", ["N"])], ["last"], constants)
    yield Case("Loop that ends by its condition", model, [{"x": floats(6, 3), "h0": floats(3)}])


def data_dependent_ends():
    """Loops whose number of steps only the data decide."""
    body = graph([node("Add", "h h", "next"), node("ReduceMax", "next", "largest", keepdims=0),
                  node("Less", "largest bound", "on"), node("Identity", "next", "y")],
                 [value("t", [], INT64), value("go", [], BOOL), value("h", ["N"])],
                 [value("on", [], BOOL), value("next", ["N"]), value("y", ["N"])])
    constants = {"most": numpy.int64(6), "yes": numpy.array(True), "bound": numpy.float32(8)}
    feeds = [{"h0": numpy.array(h, "float32")} for h in ([1, 2], [0.25, 0.5, 0.125], [0.0, -1], [100])]
    model = make([node("Loop", "most yes h0", "last ys", body=body)], [value("h0", ["N"])], ["last", "ys"], constants)
    yield Case("Loop that stacks until data end it", model, feeds)
    # The first condition, too; and a number of steps that is data, without stacked values.
    nodes = [node("ReduceMax", "h0", "first", keepdims=0), node("Less", "first bound", "go0"),
             node("Loop", "most go0 h0", "last ys", body=body)]
    # Without a step, ONNX Runtime stacks [0, 0] values, and pdl [0, N].
    yield Case("Loop that data may not begin", make(nodes, [value("h0", ["N"])], ["last"], constants), feeds)
    yield Case("Loop that data begins", make(nodes, [value("h0", ["N"])], ["last", "ys"], constants), feeds[:1])
    body = graph([node("Add", "h h", "next"), node("ReduceMax", "next", "largest", keepdims=0),
                  node("Less", "largest bound", "on")],
                 [value("t", [], INT64), value("go", [], BOOL), value("h", ["N"])],
                 [value("on", [], BOOL), value("next", ["N"])])
    nodes = [node("ReduceSum", "h0", "sum", keepdims=0), node("Cast", "sum", "limit", to=INT64),
             node("Loop", "limit yes h0", "last", body=body)]
    yield Case("Loop with a number of steps that is data", make(nodes, [value("h0", ["N"])], ["last"], constants), feeds)
    nodes = [node("Loop", "- yes h0", "last", body=body)]
    yield Case("Loop without a number of steps", make(nodes, [value("h0", ["N"])], ["last"], constants), feeds[:2])


def no_steps():
    """The results of the steps are empty. ONNX Runtime does not know their sizes if those are symbols."""
    body = graph([node("Add", "h x", "next"), node("Neg", "next", "y"), node("ReduceSum", "y", "s", keepdims=0),
                  node("Less", "s zero", "on")],
                 [value("t", [], INT64), value("go", [], BOOL), value("h", ["N", 3])],
                 [value("on", [], BOOL), value("next", ["N", 3]), value("y", ["N", 3])])
    for steps, go in ((0, True), (-5, True), (7, False)):
        constants = {"steps": numpy.int64(steps), "go": numpy.array(go), "zero": numpy.float32(0)}
        model = make([node("Loop", "steps go x", "last ys", body=body)], [value("x", ["N", 3])], ["last", "ys"],
                     constants)
        expect = lambda feeds: [feeds["x"], feeds["x"][None][:0]]
        yield Case(f"Loop of {steps} steps, {go}", model, [{"x": floats(2, 3)}], expect)


def cases():
    yield from scans()
    yield from loops()
    yield from whiles()
    yield from data_dependent_ends()
    yield from no_steps()
