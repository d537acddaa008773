#!/usr/bin/env python3
"""round_trip.py PDL [KIND...] [--only=CASE] [-v]: ONNX's own backend cases, imported and exported again.

All cases in test/conformance/onnx/passed.txt: each model is exported by `pdl export model.onnx -o again.onnx`, checked
by ONNX's checker, and run by ONNX Runtime on the case's inputs. The outputs must be within 1e-5 of those of ONNX
Runtime for the original model, or of the case's expected outputs (a few files have only four digits, and ONNX Runtime
cannot run some of the original models).

Exit status 77 if Python has no version of onnx with the cases, or no onnxruntime.
"""

import argparse
import collections
import glob
import json
import multiprocessing
import os
import re
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from library import Pdl

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data")
PASSED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../conformance/onnx/passed.txt")
BF16 = onnx.TensorProto.BFLOAT16
CASES_OF_A_PROCESS = 20


class Case:
    """A case of passed.txt: `KIND/NAME`."""

    def __init__(self, name):
        self.name = name
        self.kind, stem = name.split("/")
        if self.kind == "light":
            path = f"{DATA}/light/light_{stem.removeprefix('test_')}"
            self.model, self.sets = path + ".onnx", [path]
        else:
            path = f"{DATA}/{self.kind}/{stem}"
            self.model, self.sets = path + "/model.onnx", sorted(glob.glob(path + "/test_data_set_*"))

    def inputs(self, data_set, model):
        """The arrays to feed, by name."""
        initialized = {tensor.name for tensor in model.graph.initializer}
        fed = [value for value in model.graph.input if value.name not in initialized]
        if self.kind != "light":
            files = ((value.name, f"{data_set}/input_{i}.pb") for i, value in enumerate(fed))
            return {name: read(path)[0] for name, path in files if os.path.exists(path)}
        sizes = [[d.dim_value for d in value.type.tensor_type.shape.dim] for value in fed]
        counts = [int(numpy.prod(size)) for size in sizes]
        return {value.name: (numpy.arange(count, dtype="float64") / count).astype("float32").reshape(size)
                for value, size, count in zip(fed, sizes, counts)}

    def outputs(self, data_set, model):
        if self.kind == "light":
            return read(data_set + "_output_0.pb")
        files = ((value, f"{data_set}/output_{i}.pb") for i, value in enumerate(model.graph.output))
        return [array for value, path in files if os.path.exists(path)
                for array in read(path, value.type.HasField("sequence_type"))]


def as_array(tensor):
    array = onnx.numpy_helper.to_array(tensor)
    return array.astype("float32") if tensor.data_type == BF16 else array


def read(path, is_list=False):
    """A tensor, or those of a list."""
    proto = onnx.SequenceProto() if is_list else onnx.TensorProto()
    with open(path, "rb") as file:
        proto.ParseFromString(file.read())
    return [as_array(tensor) for tensor in (proto.tensor_values if is_list else [proto])]


def export(pdl, case, inputs, out):
    """Exports it again. Inputs that must be constants become settings and are removed: returns the error and the
    remaining inputs."""
    left, settings = dict(inputs), []
    while True:
        why = pdl.save_file(case.model, out, settings)
        required = [name for name in re.findall(r'settings\["([^"]+)"\]', why or "") if name in left]
        if not required:
            return why, left
        settings += [(name, json.dumps(left.pop(name).tolist())) for name in required]


def through_f32(model):
    """The model with f32 instead of bf16 inputs and outputs, since ONNX Runtime has no bf16 arrays in Python."""
    graph = model.graph
    for value in [v for v in graph.input if v.type.tensor_type.elem_type == BF16]:
        graph.node.insert(0, onnx.helper.make_node("Cast", [value.name + "/f32"], [value.name], to=BF16))
        value.name += "/f32"
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    for value in [v for v in graph.output if v.type.tensor_type.elem_type == BF16]:
        graph.node.append(onnx.helper.make_node("Cast", [value.name], [value.name + "/f32"],
                                                to=onnx.TensorProto.FLOAT))
        value.name += "/f32"
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return model.SerializeToString()


def run(path, inputs):
    """The outputs of ONNX Runtime for these inputs, in the order of the model's inputs; lists are flattened."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = onnx.load(path)
    session = onnxruntime.InferenceSession(through_f32(model), options, providers=["CPUExecutionProvider"])
    feeds = {i.name: value for i, value in zip(session.get_inputs(), inputs)}
    results = session.run(None, feeds)
    return [part for value in results for part in (value if isinstance(value, list) else [value])]


def differs(got, wanted):
    """The reason why they differ; None if they do not."""
    if len(got) < len(wanted):
        return f"there are {len(got)} outputs, wanted {len(wanted)}"
    for index, (value, want) in enumerate(zip(got, wanted)):
        a, b = numpy.asarray(value), numpy.asarray(want)
        if a.shape != b.shape:
            return f"output {index}: the sizes are {a.shape}, wanted {b.shape}"
        if b.dtype.kind not in "fiub":
            return f"output {index} has elements of {b.dtype}"
        near = 1e-5 if b.dtype.kind != "f" or b.dtype.itemsize > 2 else 1e-2
        a, b = a.astype("float64"), b.astype("float64")
        if not numpy.allclose(a, b, rtol=near, atol=near, equal_nan=True):
            return f"output {index}: off by {numpy.nanmax(numpy.abs(a - b))}"
    return None


def judge_set(pdl, case, data_set, again):
    """(result, why); result is "good" if the network computes the same."""
    original = onnx.load(case.model, load_external_data=False)
    inputs = case.inputs(data_set, original)
    wanted = case.outputs(data_set, original)
    why, left = export(pdl, case, inputs, again)
    if why is not None:
        return "rejected", why
    try:
        onnx.checker.check_model(again, full_check=True)
    except Exception as error:  # pylint: disable=broad-except
        return "broken", str(error)
    try:
        got = run(again, left.values())
    except Exception as error:  # pylint: disable=broad-except
        return "not run", str(error)
    why = differs(got, wanted)
    if why:
        try:
            why = differs(got, run(case.model, inputs.values()))
        except Exception:  # pylint: disable=broad-except
            pass  # it cannot run the original
    return ("differs", why) if why else ("good", "")


def judge(pdl, cases, sender):
    """Sends for each case the result of the first of its data sets that is not good, or of the last one."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            for data_set in case.sets:
                outcome = judge_set(pdl, case, data_set, os.path.join(folder, "again.onnx"))
                if outcome[0] != "good":
                    break
            sender.send(outcome)


def outcomes(cases, receiver):
    """Yields the cases with their outcomes. A case in which the process ends is the last one of its group."""
    for case in cases:
        try:
            yield case, receiver.recv()
        except EOFError:
            yield case, ("crashed", "the process ended without an outcome")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--only")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    if not os.path.isdir(DATA + "/node"):
        print(f"skipped: onnx {onnx.__version__} has no cases")
        return 77
    cases = [Case(line.strip()) for line in open(PASSED)]
    cases = [case for case in cases if (not arguments.kinds or case.kind in arguments.kinds) and
             (not arguments.only or arguments.only in case.name)]
    pdl = Pdl(arguments.pdl)
    fork = multiprocessing.get_context("fork")
    # A process judges some cases, since ONNX Runtime may end it.
    groups = collections.deque(cases[begin:begin + CASES_OF_A_PROCESS]
                               for begin in range(0, len(cases), CASES_OF_A_PROCESS))
    counts, running = collections.Counter(), collections.deque()
    while groups or running:
        if groups and len(running) < os.cpu_count():
            group = groups.popleft()
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=judge, args=(pdl, group, sender))
            process.start()
            sender.close()
            running.append((group, process, receiver))
            continue
        group, process, receiver = running.popleft()
        for case, (result, why) in outcomes(group, receiver):
            counts[result] += 1
            if result != "good" or arguments.verbose:
                print(f"{case.name}: {result}: {' '.join(why.split())[:300]}")
        process.join()
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    return len(cases) == 0 or counts["good"] != len(cases)


if __name__ == "__main__":
    sys.exit(main())
