#!/usr/bin/env python3
"""import_reference.py PDL [-v]: models not covered by ONNX's own cases, imported and compared with onnx.reference.

Each model is run by `pdl run`, and the outputs must be within 1e-5 of those of the reference. It is also exported
again, and the outputs of ONNX Runtime, if installed, must be the same.

Exit status 77 if Python has no onnx with a reference evaluator.
"""

import argparse
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    import onnxruntime
except ImportError:
    onnxruntime = None

X = numpy.random.default_rng(1)


def make(nodes, sizes, outputs, constants=(), opset=19):
    """A model of one input, x: f32 of those sizes."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(numpy.array(value), name) for name, value in dict(constants).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def splits():
    """Parts of an axis whose size is known only at run time."""
    for parts in (2, 3, 4):
        outputs = [f"y{i}" for i in range(parts)]
        for opset in (13, 18):
            attributes = {"num_outputs": parts} if opset >= 18 else {}
            model = make([helper.make_node("Split", ["x"], outputs, axis=1, **attributes)], [2, "N"], outputs,
                         opset=opset)
            for size in range(parts if opset < 18 else 1, 10):
                if opset < 18 and size % parts:
                    continue  # this version requires equal parts
                yield f"Split-{opset} of {size} into {parts}", model, X.random((2, size), "float32")


def clips():
    x = numpy.array([0, 1.5, 2.5, numpy.nan], "float32")
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"])
    yield "Clip, min > max", make([node], [4], ["y"], {"low": numpy.float32(2), "high": numpy.float32(1)}), x


def resizes():
    """One scale for all axes, whose sizes are rounded up or down."""
    x = X.random((1, 2, 9, 7), "float32")
    modes = [("linear", {}), ("linear", {"antialias": 1}), ("cubic", {}), ("cubic", {"exclude_outside": 1}),
             ("cubic", {"antialias": 1}), ("nearest", {}), ("nearest", {"nearest_mode": "floor"}),
             ("nearest", {"nearest_mode": "round_prefer_ceil"}), ("nearest", {"nearest_mode": "ceil"})]
    for coordinates in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners",
                        "tf_crop_and_resize"):
        roi = {"roi": numpy.array([0.1, 0.2, 0.9, 1.1], "float32")} if coordinates == "tf_crop_and_resize" else {}
        for mode, attributes in modes:
            for policy in ("not_larger", "not_smaller"):
                for sizes in ([14, 12], [5, 3]):
                    node = helper.make_node(
                        "Resize", ["x", *(roi or [""]), "", "sizes"], ["y"], mode=mode, axes=[2, 3],
                        coordinate_transformation_mode=coordinates, keep_aspect_ratio_policy=policy, **attributes)
                    name = f"Resize to {sizes}, {policy}, {coordinates}, {mode} {attributes or ''}"
                    yield name, make([node], [1, 2, 9, 7], ["y"],
                                     {"sizes": numpy.array(sizes, "int64"), **roi}), x


def einsums():
    """Dims of size 1 are broadcast, as in NumPy."""
    for equation, sizes in (("ab,ab->ab", (1, 3)), ("ab,ab", (2, 1)), ("ab,ab->", (1, 1)), ("ba, ca", (5, 1)),
                            ("...a,a->...", (1,)), ("ab,ab->ba", (1, 1)), ("ab,a->b", (1,))):
        node = helper.make_node("Einsum", ["x", "w"], ["y"], equation=equation)
        w = X.random(sizes, "float32")
        yield f"Einsum {equation} with {sizes}", make([node], [2, 3], ["y"], {"w": w}), X.random((2, 3), "float32")


def limits():
    """Numbers near the limits of integers."""
    x = X.random((3, 4), "float32")
    for k in (-2**62, -2**31, 2**31, 2**63 - 1):
        for upper in (0, 1):
            yield (f"Trilu of {k}, upper={upper}",
                   make([helper.make_node("Trilu", ["x", "k"], ["y"], upper=upper)], [3, 4], ["y"], {"k": k}), x)
    for step in (-2**63, 1 - 2**63, -2**62, 2**62, 2**63 - 1):
        for sizes in ([3, 4], ["N", 4]):
            constants = {"s": [1 if step > 0 else 2], "e": [2**62 if step > 0 else -2**62], "a": [0], "p": [step]}
            yield (f"Slice of {sizes} by {step}",
                   make([helper.make_node("Slice", ["x", "s", "e", "a", "p"], ["y"])], sizes, ["y"], constants), x)


def sparse_model(indices, values, sizes):
    """x + w, where w is a sparse initializer."""
    model = make([helper.make_node("Add", ["x", "w"], ["y"])], sizes, ["y"])
    tensors = [onnx.numpy_helper.from_array(numpy.array(value, dtype), name)
               for value, dtype, name in ((values, "float32", "w"), (indices, "int64", "at"))]
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(*tensors, sizes))
    return model


def check_sparse(pdl, folder):
    """The first error in sparse initializers that are valid, and in those that are not."""
    path, x, y = (f"{folder}/{name}" for name in ("model.onnx", "x.npy", "y.npy"))
    numpy.save(x, numpy.zeros((2, 3), "float32"))
    wrong = [([-1, 2], "index -1"), ([1, 6], "index 6"), ([4, 1], "ascending"), ([1, 1], "ascending"),
             ([[0, 1], [2, 0]], "index 2"), ([[0, 3], [1, 0]], "index 3"), ([[1, 0], [0, 1]], "ascending"),
             ([1], "needs an INT64 index"), ([[1], [2]], "needs an INT64 index")]
    for indices, message in [([1, 5], None), ([[0, 1], [1, 2]], None), *wrong]:
        onnx.save(sparse_model(indices, [2.5, -1], [2, 3]), path)
        done = subprocess.run([pdl, "run", path, "--input", f"x={x}", "--output", f"y={y}"],
                              capture_output=True, text=True, check=False)
        if message is None:
            if done.returncode or numpy.load(y).tolist() != [[0, 2.5, 0], [0, 0, -1]]:
                return f"{indices}: {done.stderr.strip()}"
        elif done.returncode != 1 or message not in done.stderr:
            return f"{indices}: {done.stderr.strip()}"
    onnx.save(sparse_model([1, 5], [2.5, -1], [2**20, 2**20]), path)
    done = subprocess.run([pdl, "import", path, "-o", "-"], capture_output=True, text=True, check=False)
    return None if done.returncode == 1 and "have more than" in done.stderr else "large: " + done.stderr.strip()


def check_refusal(pdl, folder):
    """An error of an operator's inference in an attribute has a single code."""
    path = f"{folder}/model.onnx"
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], nearest_mode="odd")
    onnx.save(make([node], [1, 1, 4], ["y"], {"scales": numpy.array([1, 1, 2], "float32")}), path)
    done = subprocess.run([pdl, "import", path, "-o", "-"], capture_output=True, text=True, check=False)
    wanted = ("node 'y' (Resize): attribute 'rounding' of 'resize' must be one of \"prefer_floor\", "
              "\"prefer_ceil\", \"floor\", \"ceil\", got \"odd\" [PDL0402]\n")
    return None if done.returncode == 1 and done.stderr.endswith(wanted) else done.stderr.strip()


def differs(got, wanted):
    """The reason why they differ; None if they do not."""
    for index, (value, want) in enumerate(zip(got, wanted, strict=True)):
        if value.shape != want.shape:
            return f"output {index}: the sizes are {value.shape}, wanted {want.shape}"
        if not numpy.allclose(value, want, rtol=1e-5, atol=1e-5, equal_nan=True):
            return f"output {index}: off by {numpy.nanmax(numpy.abs(value - want))}"
    return None


def judge(pdl, model, x, folder):
    """The error, or None."""
    wanted = ReferenceEvaluator(model).run(None, {"x": x})
    path, again = f"{folder}/model.onnx", f"{folder}/again.onnx"
    onnx.save(model, path)
    numpy.save(f"{folder}/x.npy", x)
    files = {output.name: f"{folder}/{output.name}.npy" for output in model.graph.output}
    command = [pdl, "run", path, "--input", f"x={folder}/x.npy"]
    for name, file in files.items():
        command += ["--output", f"{name}={file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    if why := differs(map(numpy.load, files.values()), wanted):
        return why
    done = subprocess.run([pdl, "export", path, "-o", again], capture_output=True, text=True, check=False)
    if done.returncode:
        return "export: " + done.stderr.strip()
    try:
        onnx.checker.check_model(again, full_check=True)
    except Exception as error:  # pylint: disable=broad-except
        return f"exported: {error}"
    if onnxruntime is None:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(again, options, providers=["CPUExecutionProvider"])
    why = differs(session.run(None, {"x": x}), wanted)
    return why and "exported: " + why


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for make_cases in (splits, clips, resizes, einsums, limits):
            for name, model, x in make_cases():
                why = judge(arguments.pdl, model, x, folder)
                count += 1
                failed += why is not None
                if why or arguments.verbose:
                    print(f"{name}: {why or 'good'}")
        for name, check in (("rejected models", check_refusal), ("sparse initializers", check_sparse)):
            count += 1
            if why := check(arguments.pdl, folder):
                failed += 1
                print(f"{name}: {why}")
    print(f"{count - failed} good, {failed} bad")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
