#!/usr/bin/env python3
"""export_runtime.py PDL [-v]: networks whose sizes are known only at run time, exported and run by ONNX Runtime.

The outputs must be within 1e-4 of those of `pdl run`, for several sizes. It also checks the messages for networks
that cannot be exported.

Exit status 77 where Python has no onnx or no onnxruntime.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime  # pylint: disable=unused-import
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from models import floats, run_runtime

# Windows with input size / stride outputs. If ONNX Runtime deviates from ONNX's definition of auto_pad (windows
# that skip elements, or with dilation), the padding is computed.
WINDOWS = {
    "conv2d(x, w, {})": "w",
    "conv2d(x, w, {}, groups=1)": "w",
    "max_pool(x - 100.0, kernel=[{k}], {})": "",
    "avg_pool(x, kernel=[{k}], {})": "",
    "avg_pool(x, kernel=[{k}], count_include_pad=true, {})": "",
    "lp_pool(x, kernel=[{k}], {})": "",
    "im2col(x, kernel=[{k}], {})": "",
}


def windows():
    """(name, text, feeds)"""
    for (call, weights), pad, (k, stride, dilation) in itertools.product(
            WINDOWS.items(), ("same", "same_lower"), ((3, 2, 1), (1, 2, 1), (2, 3, 1), (3, 2, 2), (2, 3, 2))):
        text = "input x: f32[N, 2, H, W]\n"
        if weights:
            text += f"input w: f32[2, 2, {k}, {k}]\n"
        arguments = f'pad="{pad}", stride=[{stride}], dilation=[{dilation}]'
        text += "output y = " + call.format(arguments, k=k) + "\n"
        feeds = []
        for height, width in ((5, 7), (6, 8), (9, 7)):
            feeds.append({"x": floats(2, 2, height, width)})
            if weights:
                feeds[-1]["w"] = floats(2, 2, k, k)
        yield f"{call.format(arguments, k=k)}", text, feeds
    # Padding that is larger than the kernel.
    for call, pad, (k, dilation, stride), (ceil_mode, sizes) in itertools.product(
            (call for call in WINDOWS if "pool" in call), ('"same_lower"', "[2, 3]", "[1, 3, 2, 0]"),
            ((2, 3, 1), (2, 4, 3)), (("false", "H, 8"), ("true", "8, 8"), ("true", "9, 7"))):
        arguments = f"pad={pad}, stride=[{stride}], dilation=[{dilation}], ceil_mode={ceil_mode}"
        text = f"input x: f32[N, 2, {sizes}]\noutput y = " + call.format(arguments, k=k) + "\n"
        feeds = [{"x": floats(2, 2, *((9, 7) if "9" in sizes else (8, 8)))}]
        yield f"{call.format(arguments, k=k)} of {sizes}", text, feeds
    text = "input x: f32[N, 2, H, W]\ninput w: f32[2, 2, 3, 3]\noutput y = conv2d(x, w, pad=[H // 3, W // 2])\n"
    yield "padding of a size", text, [{"x": floats(1, 2, 6, 5), "w": floats(2, 2, 3, 3)}]


# Networks that cannot be exported: (source, message with location).
REFUSED = [
    # A state whose number of rows is known only at run time.
    ("input x: f32[N, 3]\nstate s: f32[N, 3] = zeros()\noutput y = x + s\n",
     "<stdin>:2:1: the state 's' is f32[N, 3], but the initial states of an ONNX model have fixed sizes; make it an "
     "input, or a computed value [PDL0901]"),
    ("input x: f32[N, 3]\nstate s: f32[N, 3] = zeros()\ny = x + s\nupdate s = y\noutput y\n",
     "<stdin>:2:1: a run changes the state 's', and an ONNX model has no states [PDL0901]"),
]


def differs(got, wanted):
    if got.shape != wanted.shape:
        return f"the sizes are {got.shape}, wanted {wanted.shape}"
    if not numpy.allclose(got, wanted, rtol=1e-4, atol=1e-5):
        return f"off by {numpy.abs(got - wanted).max()}"
    return None


def judge(pdl, text, feeds, folder):
    """The error, or None."""
    path, exported = f"{folder}/model.pdl", f"{folder}/model.onnx"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([pdl, "export", path, "-o", exported], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    onnx.checker.check_model(exported, full_check=True)
    for fed in feeds:
        command = [pdl, "run", path, "--output", f"y={folder}/y.npy"]
        for name, array in fed.items():
            numpy.save(f"{folder}/{name}.npy", array)
            command += ["--input", f"{name}={folder}/{name}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        try:
            why = differs(run_runtime(exported, fed)[0], numpy.load(f"{folder}/y.npy"))
        except Exception as error:  # pylint: disable=broad-except
            why = str(error)
        if why:
            return f"of {fed['x'].shape}: {why}"
    return None


def judge_refusal(pdl, text, wanted):
    done = subprocess.run([pdl, "export", "-", "-o", "/dev/null"], input=text, capture_output=True, text=True,
                          check=False)
    good = done.returncode == 1 and done.stderr == f"error: {wanted}\n"
    return None if good else f"{done.returncode}: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text, feeds in windows():
            outcomes.append((name, judge(arguments.pdl, text, feeds, folder)))
    for text, wanted in REFUSED:
        outcomes.append((wanted, judge_refusal(arguments.pdl, text, wanted)))
    for name, why in outcomes:
        if why or arguments.verbose:
            print(f"{name}: {why or 'good'}")
    failed = sum(why is not None for _, why in outcomes)
    print(f"{len(outcomes) - failed} good, {failed} bad")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
