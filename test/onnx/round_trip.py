#!/usr/bin/env python3
"""round_trip.py PDL [KIND...] [--only=CASE]: ONNX's own backend cases, imported and exported again.

Each model is read by `pdl export model.onnx -o again.onnx`, which writes it anew; ONNX's checker looks
at that, and ONNX Runtime runs it on the case's inputs. What comes out must be within 1e-5 of what it gives
for the original, or, where it cannot run that, of what the case expects. Cases that `pdl` refuses to read or to write are counted, by reason, and are no mistake
here: test/conformance and docs/onnx.md say what those are.

Exit status 77 where Python has no onnx of a version that ships the cases, or no onnxruntime.
"""

import argparse
import collections
import glob
import json
import multiprocessing
import os
import re
import subprocess
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

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data")
KINDS = ["node", "simple", "pytorch-operator", "pytorch-converted"]


def read(folder, stem):
    values = []
    for path in sorted(glob.glob(f"{folder}/{stem}_*.pb"), key=lambda p: int(re.findall(r"\d+", p)[-1])):
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        values.append(onnx.numpy_helper.to_array(tensor))
    return values


def export(pdl, model, out, inputs):
    """Exports it again. Inputs whose values must be known are given by --set, and are then gone:
    returns what the program says, and the inputs that are left."""
    graph = onnx.load(model, load_external_data=False).graph
    initialized = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in initialized]
    left, settings = dict(zip(names, inputs)), []
    while True:
        done = subprocess.run([pdl, "export", model, "-o", out, *settings],
                              capture_output=True, text=True, timeout=120)
        wanted = re.search(r"give those of (.+?): --set (\w+)=", done.stderr)
        if done.returncode == 0 or not wanted or wanted[1] not in left:
            return done, list(left.values())
        value = json.dumps(left.pop(wanted[1]).tolist())
        settings.append(f"--set={wanted[2]}={value}")


def run(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = session.get_inputs()
    return session.run(None, {i.name: value for i, value in zip(given, inputs)})


def judge(pdl, case, sender):
    """Sends (result, why)."""
    with tempfile.TemporaryDirectory() as folder:
        again = os.path.join(folder, "again.onnx")
        try:
            inputs = read(case + "/test_data_set_0", "input")
            wanted = read(case + "/test_data_set_0", "output")
        except Exception as error:  # pylint: disable=broad-except
            sender.send(("no data", str(error)))
            return
        done, left = export(pdl, case + "/model.onnx", again, inputs)
        if done.returncode != 0:
            sender.send(("refused", (done.stderr.strip().splitlines() or [""])[0]))
            return
        try:
            onnx.checker.check_model(again, full_check=True)
        except Exception as error:  # pylint: disable=broad-except
            sender.send(("broken", str(error)))
            return
        try:
            wanted = run(case + "/model.onnx", inputs)
        except Exception:  # pylint: disable=broad-except
            pass  # what the case has
        try:
            got = run(again, left)
        except Exception as error:  # pylint: disable=broad-except
            sender.send(("not run", str(error)))
            return
        for index, (value, want) in enumerate(zip(got, wanted)):
            a, b = numpy.asarray(value), numpy.asarray(want)
            if a.shape != b.shape:
                sender.send(("differs", f"output {index}: the sizes are {a.shape}, wanted {b.shape}"))
                return
            near = 1e-5 if b.dtype.kind != "f" or b.dtype.itemsize > 2 else 1e-2
            if b.dtype.kind in "fiub" and not numpy.allclose(
                    a.astype("float64"), b.astype("float64"), rtol=near, atol=near, equal_nan=True):
                worst = numpy.nanmax(numpy.abs(a.astype("float64") - b.astype("float64")))
                sender.send(("differs", f"output {index}: off by {worst}"))
                return
        sender.send(("good", ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("kinds", nargs="*", default=KINDS)
    parser.add_argument("--only")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    found = [path for kind in arguments.kinds for path in sorted(glob.glob(f"{DATA}/{kind}/*"))
             if os.path.exists(path + "/model.onnx") and (not arguments.only or arguments.only in path)]
    if not found:
        print("skipped: this onnx has no cases")
        return 77
    fork = multiprocessing.get_context("fork")
    counts, waiting, running = collections.Counter(), collections.deque(found), collections.deque()
    while waiting or running:
        if waiting and len(running) < os.cpu_count():
            case = waiting.popleft()
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=judge, args=(arguments.pdl, case, sender))
            process.start()
            sender.close()
            running.append((case, process, receiver))
            continue
        case, process, receiver = running.popleft()
        try:
            result, why = receiver.recv()
        except EOFError:
            result, why = "crashed", "ONNX Runtime ended the process"
        process.join()
        counts[result] += 1
        if result not in ("good", "refused") or (arguments.verbose and result != "good"):
            print(f"{os.path.basename(case)}: {result}: {' '.join(why.split())[:220]}")
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    return counts["differs"] + counts["broken"] > 0


if __name__ == "__main__":
    sys.exit(main())
