"""Comparison of networks with ONNX Runtime: the networks of `bench/networks` and ResNet-50 of `examples/resnet`,
exported by `pdl export`, so both run the same graph with the same weights. One thread unless
`--threads=N`. Each result is compared before anything is timed; the two run in turn, some runs at a
time, with a pause between, since threads of ONNX Runtime spin for a while when they are done.

onnxruntime_networks.py PDL [--threads=N] [--only=NAME]

Requires the packages onnxruntime, numpy and pdl; if one is missing, it prints a message and exits with status 0."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import onnxruntime

    import pdl
except ImportError as missing:
    print(f"skipped: no Python package {missing.name}")
    sys.exit(0)

HERE = pathlib.Path(__file__).parent
NETWORKS = HERE.parent / "networks"
RESNET = HERE.parent.parent / "examples" / "resnet" / "resnet.pdl"

# Name, source, output, input, dims of the input.
CASES = [
    ("MLP 784-256-256-10, batch 1", NETWORKS / "mlp.pdl", "y", "x", (1, 784)),
    ("MLP 784-256-256-10, batch 64", NETWORKS / "mlp.pdl", "y", "x", (64, 784)),
    ("encoder layer d=768, S=16", NETWORKS / "encoder_layer.pdl", "y", "x", (1, 16, 768)),
    ("encoder layer d=768, S=128", NETWORKS / "encoder_layer.pdl", "y", "x", (1, 128, 768)),
    ("MobileNetV2, batch 1", NETWORKS / "mobilenet.pdl", "y", "image", (1, 3, 224, 224)),
    ("ResNet-50, batch 1", RESNET, "features", "image", (1, 3, 224, 224)),
    ("ResNet-50, batch 8", RESNET, "features", "image", (8, 3, 224, 224)),
]
ROUNDS, ROUND_SECONDS, PAUSE_SECONDS = 9, 0.15, 0.02


def seconds_of_one(call, runs):
    """The median time of some runs, after a first run that is not measured."""
    time.sleep(PAUSE_SECONDS)
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(program, case, threads, folder):
    name, path, output, fed, dims = case
    model = folder / "model.onnx"
    text = folder / "model.pdl"
    # Only the output to compare, so that both compute the same.
    source = path.read_text().split('\ntest "')[0]
    lines = [line for line in source.splitlines() if not line.startswith(("output prob", "minimize", "input label", "loss"))]
    if f"output {output}" not in source:
        lines.append(f"output {output}")
    text.write_text("\n".join(lines) + "\n")
    subprocess.run([program, "export", text, "-o", model], check=True)
    net = pdl.load(text, threads=threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    x = numpy.random.default_rng(0).standard_normal(dims, numpy.float32)
    ours = lambda: net(**{fed: x})[output]
    theirs = lambda: session.run([output], {fed: x})[0]
    wanted = theirs()
    error = numpy.abs(numpy.asarray(ours()) - wanted).max() / numpy.abs(wanted).max()
    assert error < 1e-4, f"{name}: the results differ by {error:.1e}"
    runs = max(3, round(ROUND_SECONDS / seconds_of_one(theirs, 3)))
    mine, peer = [], []
    for _ in range(ROUNDS):
        mine.append(seconds_of_one(ours, runs))
        peer.append(seconds_of_one(theirs, runs))
    ratio = statistics.median(a / b for a, b in zip(mine, peer))
    print(f"{name:32s} {1e3 * statistics.median(mine):9.3f} ms  {1e3 * statistics.median(peer):9.3f} ms"
          f"  {ratio:6.2f}  (differ by {error:.0e})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    print(f"{'':32s} {'pdl':>12s}  {'ONNX Runtime':>12s}  ratio   "
          f"({onnxruntime.__version__}, {arguments.threads} thread(s))")
    for case in CASES:
        if arguments.only not in case[0]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments.pdl, case, arguments.threads, pathlib.Path(folder))


if __name__ == "__main__":
    main()
