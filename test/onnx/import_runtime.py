#!/usr/bin/env python3
"""import_runtime.py PDL [-v] [WORD...]: models as exporters write them, imported and compared with ONNX Runtime.

Each model is run as it is, as the text that `pdl import` makes of it, and in ONNX Runtime as what `pdl export`
makes of it; all must be within 1e-4 of what ONNX Runtime gives for the model. Only cases that have all words in
their name are run.

Exit status 77 where Python has no onnx or no onnxruntime.
"""

import argparse
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import loop_models
import network_models
import recurrent_models
from models import run_runtime


def run_pdl(pdl, path, outputs, feeds, folder):
    """The outputs, or what pdl says."""
    command = [pdl, "run", path]
    for name, value in feeds.items():
        numpy.save(f"{folder}/in_{name}.npy", value)
        command += ["--input", f"{name}={folder}/in_{name}.npy"]
    files = [f"{folder}/out_{name}.npy" for name in outputs]
    for name, file in zip(outputs, files):
        command += ["--output", f"{name}={file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else [numpy.load(file) for file in files]


def differs(got, wanted):
    """Why they are not near; None where they are."""
    if isinstance(got, str):
        return got
    for index, (value, want) in enumerate(zip(got, wanted, strict=True)):
        if value.shape != want.shape:
            return f"output {index}: the sizes are {value.shape}, wanted {want.shape}"
        a, b = value.astype("float64"), want.astype("float64")
        if not numpy.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"output {index}: off by {numpy.nanmax(numpy.abs(a - b))}"
    return None


def judge(pdl, case, folder):
    """What is wrong with it, or None."""
    path, text, again = f"{folder}/model.onnx", f"{folder}/text.pdl", f"{folder}/again.onnx"
    onnx.save(case.model, path)
    outputs = [output.name for output in case.model.graph.output]
    for step in ([pdl, "import", path, "-o", text], [pdl, "check", text], [pdl, "export", path, "-o", again]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            return f"{step[1]}: {done.stderr.strip()}"
    try:
        onnx.checker.check_model(again, full_check=True)
    except Exception as error:  # pylint: disable=broad-except
        return f"exported: {error}"
    for feeds in case.feeds:
        wanted = case.expect(feeds) if case.expect else run_runtime(path, feeds)
        why = differs(run_pdl(pdl, path, outputs, feeds, folder), wanted)
        if not why and (why := differs(run_pdl(pdl, text, outputs, feeds, folder), wanted)):
            why = "its text: " + why
        try:
            if not why and (why := differs(run_runtime(again, feeds), wanted)):
                why = "exported: " + why
        except Exception as error:  # pylint: disable=broad-except
            why = f"exported: {error}"
        if why:
            sizes = ", ".join(f"{name}{list(value.shape)}" for name, value in feeds.items())
            return f"of {sizes}: {why}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("words", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for module in (recurrent_models, loop_models, network_models):
            for case in module.cases():
                if not all(word in case.name for word in arguments.words):
                    continue
                why = judge(os.path.abspath(arguments.pdl), case, folder)
                count += 1
                failed += why is not None
                if why or arguments.verbose:
                    print(f"{case.name}: {why or 'good'}")
    print(f"{count - failed} good, {failed} bad")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
