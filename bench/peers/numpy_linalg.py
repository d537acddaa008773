"""Comparison of linear algebra on batches of small matrices with NumPy, whose loops over a batch run in one thread.

numpy_linalg.py [--threads=N] [--only=OPERATOR]

Requires the packages numpy and pdl; if one is missing, it prints a message and exits with status 0."""

import argparse
import sys
import time

try:
    import numpy
    import pdl
except ImportError as missing:
    print(f"skipped: no Python package {missing.name}")
    sys.exit(0)

SIZES = [(20000, 2), (20000, 3), (20000, 4), (4000, 8), (1000, 16), (200, 32)]
ROUNDS = 7

linalg = numpy.linalg
# The operator, how it is called, NumPy's function, and the output to compare.
CASES = [
    ("cholesky", "cholesky(p)", lambda p, x, b: linalg.cholesky(p)),
    ("solve", "solve(x, b)", lambda p, x, b: linalg.solve(x, b)),
    ("inverse", "inverse(x)", lambda p, x, b: linalg.inv(x)),
    ("det", "det(x)", lambda p, x, b: linalg.det(x)),
    ("slogdet", "slogdet(x).logabsdet", lambda p, x, b: linalg.slogdet(x)[1]),
    ("qr", "qr(x).r", lambda p, x, b: linalg.qr(x)[1]),
    ("eigh", "eigh(p).w", lambda p, x, b: linalg.eigh(p)[0]),
    ("svd", "svd(x).s", lambda p, x, b: linalg.svd(x)[1]),
    ("pinv", "pinv(x)", lambda p, x, b: linalg.pinv(x)),
    ("matrix_power", "matrix_power(x, n=5)", lambda p, x, b: linalg.matrix_power(x, 5)),
]


def best_of(call):
    """The shortest time of some runs, in seconds."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name, call, theirs, dtype, threads):
    ratios = []
    for count, n in SIZES:
        random = numpy.random.default_rng(n)
        # Determinants near 1, which neither overflow nor underflow.
        x = (random.standard_normal((count, n, n)) / n + numpy.eye(n)).astype(dtype)
        p = (x @ x.transpose(0, 2, 1) + numpy.eye(n) / n**2).astype(dtype)
        b = random.standard_normal((count, n, 2)).astype(dtype)
        of = {"p": p, "x": x, "b": b}
        used = [key for key in of if f"({key}" in call or f", {key})" in call]
        text = {numpy.float32: "f32", numpy.float64: "f64"}[dtype]
        inputs = "".join(f"input {key}: {text}[C, {n}, {2 if key == 'b' else n}]\n" for key in used)
        net = pdl.compile(f"{inputs}output y = {call}\n", threads=threads)
        feeds = {key: of[key] for key in used}
        found, expected = numpy.asarray(net(**feeds)["y"]), theirs(p, x, b)
        error = numpy.abs(numpy.abs(found) - numpy.abs(expected)).max() / numpy.abs(expected).max()
        assert error < (1e-3 if dtype == numpy.float32 else 1e-10), f"{name}: differs by {error:.1e}"
        ratios.append(best_of(lambda: theirs(p, x, b)) / best_of(lambda: net(**feeds)))
    line = "  ".join(f"{ratio:6.1f}" for ratio in ratios)
    print(f"{name:14s} {text}  {line}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    sizes = "  ".join(f"{f'{n}x{n}':>6s}" for _, n in SIZES)
    print(f"How many times as fast as NumPy {numpy.__version__}, {arguments.threads} thread(s)")
    print(f"{'':18s} {sizes}")
    for name, call, theirs in CASES:
        for dtype in [numpy.float32, numpy.float64]:
            if arguments.only in name:
                measure(name, call, theirs, dtype, arguments.threads)


if __name__ == "__main__":
    main()
