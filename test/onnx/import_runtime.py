#!/usr/bin/env python3
"""import_runtime.py PDL [-v] [WORD...]: models in the form of exporters, imported and compared with ONNX Runtime.

Each model is run directly, as the source written by `pdl import`, and in ONNX Runtime after `pdl export`. All outputs
must be within 1e-4 of those of ONNX Runtime for the model, and those of the source must have the same bits as those of
the model. The source of `pdl dump --emit=pdl` must be valid, too. Only cases with all words in their names are run.

Exit status 77 if Python has no onnx or no onnxruntime.
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
import size_models
from models import run_runtime


def run_pdl(pdl, path, outputs, feeds, folder):
    """The outputs, or the error of pdl."""
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
    """The reason why they differ; None if they do not."""
    if isinstance(got, str):
        return got
    for index, (value, want) in enumerate(zip(got, wanted, strict=True)):
        if value.shape != want.shape:
            return f"output {index}: the sizes are {value.shape}, wanted {want.shape}"
        a, b = value.astype("float64"), want.astype("float64")
        if not numpy.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"output {index}: off by {numpy.nanmax(numpy.abs(a - b))}"
    return None


def bits_differ(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return None  # said elsewhere
    same = all(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a, b))
    return None if same else "its text: other bits than the model itself"


def check_emitted(pdl, path, folder):
    """The error in the emitted source of a model, or None."""
    done = subprocess.run([pdl, "dump", "--emit=pdl", path], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        with open(f"{folder}/emitted.pdl", "w", encoding="utf-8") as file:
            file.write(done.stdout.replace('"model.safetensors"', '"text.safetensors"'))
        done = subprocess.run([pdl, "check", f"{folder}/emitted.pdl"], capture_output=True, text=True, check=False)
        # The weights have other names there.
        if not done.returncode or "PDL0404" in done.stderr:
            return None
    return "--emit=pdl: " + done.stderr.strip()


def judge(pdl, case, folder, settings=()):
    """The error, or None. `settings` only apply to the source."""
    path, text, again = f"{folder}/model.onnx", f"{folder}/text.pdl", f"{folder}/again.onnx"
    onnx.save(case.model, path)
    outputs = [output.name for output in case.model.graph.output]
    for step in ([pdl, "import", path, "-o", text, *settings], [pdl, "check", text],
                 [pdl, "export", path, "-o", again, *settings]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            return f"{step[1]}: {done.stderr.strip()}"
    if why := check_emitted(pdl, path, folder):
        return why
    try:
        onnx.checker.check_model(again, full_check=True)
    except Exception as error:  # pylint: disable=broad-except
        return f"exported: {error}"
    for feeds in case.feeds:
        wanted = case.expect(feeds) if case.expect else run_runtime(path, feeds)
        got = run_pdl(pdl, path, outputs, feeds, folder)
        why = differs(got, wanted)
        of_text = None if why else run_pdl(pdl, text, outputs, feeds, folder)
        if not why and (why := differs(of_text, wanted)):
            why = "its text: " + why
        why = why or bits_differ(got, of_text)
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
        for module in (recurrent_models, loop_models, network_models, size_models):
            for case in module.cases():
                if not all(word in case.name for word in arguments.words):
                    continue
                why = judge(os.path.abspath(arguments.pdl), case, folder)
                count += 1
                failed += why is not None
                if why or arguments.verbose:
                    print(f"{case.name}: {why or 'good'}")
        for case, sizes in size_models.broadcasts():
            if not all(word in case.name for word in arguments.words):
                continue
            settings = [f"--set={name}={size}" for name, size in sizes.items()]
            why = judge(os.path.abspath(arguments.pdl), case, folder, settings)
            count += 1
            failed += why is not None
            if why or arguments.verbose:
                print(f"{case.name}: {why or 'good'}")
    print(f"{count - failed} good, {failed} bad")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
