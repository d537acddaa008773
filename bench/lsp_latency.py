#!/usr/bin/env python3
"""Measures the latency of `pdl lsp` on a document of about 2,000 lines, and prints a table in Markdown.

    lsp_latency.py PDL [EDITS]
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "test/lsp"))
from client import Client, place, span  # noqa: E402

BLOCK = """## Block {i}.
layer block{i}(x: F[N, D], size: int > 0 = 16) {{
  h = relu(fc(x, size=size))
  g = h * 2.0 + 1.0
  return y=g, first=h
}}
a{i} = block{i}({x}, size=16).y
b{i} = softmax(a{i}, axis=1)
c{i} = a{i} + b{i}

"""


def document(lines):
    parts, x = ["input x: f32[N, 16]\n"], "x"
    while sum(part.count("\n") for part in parts) < lines - 2:
        i = len(parts)
        parts.append(BLOCK.format(i=i, x=x))
        x = f"c{i}"
    return "".join(parts) + f"output {x}\n"


def percentiles(times):
    times = sorted(1000 * t for t in times)
    return f"{statistics.median(times):.1f} | {times[int(0.95 * len(times))]:.1f}"


def measure(pdl, edits):
    contents = document(2000)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.pdl"
        path.write_text(contents)
        rows = []
        begin = time.perf_counter()
        client = Client(pdl)
        client.initialize()
        start = time.perf_counter() - begin
        uri = path.as_uri()
        client.open(uri, contents)
        assert client.diagnostics(uri) == []
        lines = contents.split("\n")
        line = next(i for i, each in enumerate(lines) if each.startswith("b50 ="))
        times = []
        for i in range(edits):
            old, new = ("softmax", "softmix") if i % 2 == 0 else ("softmix", "softmax")
            column = lines[line].index("softmax")
            begin = time.perf_counter()
            client.change(uri, ((line, column), (line, column + 7), new))
            client.diagnostics(uri)
            times.append(time.perf_counter() - begin)
        rows.append(("diagnostics after an edit", percentiles(times)))
        for name, method, position in (
                ("hover", "hover", (line, 8)), ("completion", "completion", (line, 9)),
                ("definition", "definition", (line, 15)), ("signature help", "signatureHelp", (line, 16)),
                ("references", "references", (line, 1))):
            times = []
            for i in range(edits):
                begin = time.perf_counter()
                client.at("textDocument/" + method, uri, position)
                times.append(time.perf_counter() - begin)
            rows.append((name, percentiles(times)))
        for name, method in (("type hints of 60 lines", "inlayHint"), ("highlighting of all lines", "semanticTokens/full"),
                             ("outline", "documentSymbol")):
            times = []
            for i in range(edits):
                begin = time.perf_counter()
                client.request("textDocument/" + method, {"textDocument": {"uri": uri},
                                                          "range": span((line - 30, 0), (line + 30, 0))})
                times.append(time.perf_counter() - begin)
            rows.append((name, percentiles(times)))
        status = pathlib.Path(f"/proc/{client.process.pid}/status").read_text()
        memory = next(l for l in status.splitlines() if l.startswith("VmRSS")).split()[1]
        client.shutdown()
    print(f"{len(lines)} lines; start until `initialize` is answered: {1000 * start:.0f} ms; "
          f"memory (RSS): {int(memory) / 1024:.0f} MB\n")
    print("| | median ms | p95 ms |\n|---|---|---|")
    for name, figures in rows:
        print(f"| {name} | {figures} |")


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200)
