"""Text to a checked network with inferred shapes, in pdl and in ONNX's own textual format: a chain of 10,000 and
100,000 calls with one attribute each. Needs the package onnx; if it is missing, it prints a message and exits with
status 0.

    python bench/peers/onnx_text.py build/release/bin/pdl build/release/bin/pdl_bench [ROUNDS]

Measured alternately: `pdl check` as a process, including its start; the same in a process that has done it before
(CheckStatements of pdl_bench); and onnx in this process, which has been started, too.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import onnx
    import onnx.checker
    import onnx.parser
    import onnx.shape_inference
except ImportError as missing:
    print(f"skipped: no Python package {missing.name} (python3 -m venv .venv && .venv/bin/pip install onnx)")
    sys.exit(0)

CALLS = (10_000, 100_000)


def pdl_text(calls):
    lines = [f"y{i + 1} = cos(y{i}, scale=5.0)\n" for i in range(calls)]
    return "input y0: f32[N]\n" + "".join(lines) + f"output y = y{calls}\n"


def onnx_text(calls):
    lines = [f"y{i + 1} = Elu <alpha = 5.0> (y{i})\n" for i in range(calls)]
    head = f'<ir_version: 8, opset_import: ["" : 17]>\nchain (float[N] y0) => (float[N] y{calls})'
    return head + " {\n" + "".join(lines) + "}\n"


def check_onnx(text):
    model = onnx.parser.parse_model(text)
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)


def seconds(function, *arguments, **options):
    start = time.perf_counter()
    function(*arguments, **options)
    return time.perf_counter() - start


def bench_seconds(program, calls):
    """The time of CheckStatements, whose source is the same."""
    command = [program, f"--benchmark_filter=^CheckStatements/{calls}$", "--benchmark_format=json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["benchmarks"][0]["real_time"] / 1000


def main():
    program, bench = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chain.pdl"
        for _ in range(rounds):
            for calls in CALLS:
                path.write_text(pdl_text(calls))
                measured = {
                    "pdl check": seconds(subprocess.run, [program, "check", path], check=True),
                    "— started": bench_seconds(bench, calls),
                    f"onnx {onnx.__version__}": seconds(check_onnx, onnx_text(calls)),
                }
                for name, value in measured.items():
                    times.setdefault(name, {}).setdefault(calls, []).append(value)
    print(f"calls per second of source, median of {rounds} rounds")
    for name, by_calls in times.items():
        few, many = (statistics.median(by_calls[calls]) for calls in CALLS)
        print(f"{name:12} {CALLS[0] / few / 1000:6.0f}k {CALLS[1] / many / 1000:6.0f}k   growth {many / few:5.1f}")


if __name__ == "__main__":
    main()
