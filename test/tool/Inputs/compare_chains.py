#!/usr/bin/env python3
"""compare_chains.py PDL: compares the peak memory of `pdl compare` for chains of 8 and of 96 calls, whose values take
8 MiB each. Exits with 1 if the longer chain needs memory for four more values."""

import os
import subprocess
import sys

VALUE = 8 << 20


def peak(pdl, calls):
    """The peak memory in bytes."""
    lines = [f"v{i} = {'sin' if i % 2 else 'cos'}({f'v{i - 1}' if i else 'x'})" for i in range(calls)]
    text = "\n".join(["input x: f32[N]", *lines, f"output v{calls - 1}", ""])
    path = f"chain{calls}.pdl"
    with open(path, "w") as file:
        file.write(text)
    command = [pdl, "compare", path, path, "--input", "x=random", "--size", f"N={VALUE // 4}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0 or f"{calls} other values: {calls} equal" not in output:
        sys.exit(f"status {status}: {output}")
    return usage.ru_maxrss << 10


few, many = peak(sys.argv[1], 8), peak(sys.argv[1], 96)
print(f"8 calls: {few >> 20} MiB, 96 calls: {many >> 20} MiB")
sys.exit(many >= few + 4 * VALUE)
