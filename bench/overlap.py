#!/usr/bin/env python3
"""How much of the time in which gradients are added over ranks is hidden behind their computation:

    overlap.py PDL [MBIT [TRANSPORT]]

Two hosts, made of network namespaces, are connected at MBIT megabits per second (default 1000; 0: no limit). On each, one
process trains a network of 23 MB with one thread, once with all gradients in one bucket and once with buckets of the default
size, by turns. Times are those of rank 0's trace: a step, the sums of gradients, and the part of the sums during
which gradients are computed. TRANSPORT is openmpi (default), mpich or gloo. Needs root, ip, tc and protoc.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/distributed"))
import hosts  # noqa: E402

NETWORK = """input x: f32[N, 512]
input target: f32[N, 1024]
h = x
for i in 0..6 {
  h = fc(h, size=1024, act=tanh())
}
loss = mse(h, target)
minimize loss with sgd(lr=0.01)
"""
ROWS = 256  # of each rank
STEPS = 12


def slices(trace):
    """(thread's track, name, begin, end in s) of the slices of a trace."""
    text = subprocess.run(["protoc", f"--proto_path={ROOT / 'proto'}", "--decode=pdl.perfetto.Trace", "trace.proto"],
                          input=trace.read_bytes(), stdout=subprocess.PIPE, check=True).stdout.decode()
    names, open_slices, found = {}, {}, []
    for packet in text.split("\npacket {"):
        for number, name in re.findall(r'event_names \{\s*iid: (\d+)\s*name: "([^"]*)"', packet):
            names[number] = name
        kind = re.search(r"type: TYPE_SLICE_(BEGIN|END)", packet)
        if not kind:
            continue
        track = re.search(r"track_uuid: (\d+)", packet)[1]
        time = int(re.search(r"timestamp: (\d+)", packet)[1]) * 1e-9
        stack = open_slices.setdefault(track, [])
        if kind[1] == "BEGIN":
            stack.append((names[re.search(r"\n    name_iid: (\d+)", packet)[1]], time))
        elif stack:
            name, begin = stack.pop()
            found.append((track, name, begin, time))
    return found


def overlap(spans, others):
    return sum(max(0.0, min(end, other_end) - max(begin, other_begin))
               for begin, end in spans for other_begin, other_end in others)


def measure(command, bucket, folder):
    trace = folder / "rank0.pftrace"
    subprocess.run([*command, f"--bucket={bucket}", f"--trace={trace}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spans = {}
    for _, name, begin, end in slices(trace):
        spans.setdefault(name, []).append((begin, end))
    # The first steps allocate memory and make plans.
    first = sorted(spans["training step"])[2][0]
    spans = {name: [span for span in of_name if span[0] >= first] for name, of_name in spans.items()}
    sums = spans["sum over ranks"]
    steps = [end - begin for begin, end in spans["training step"]]
    all_sums = sum(end - begin for begin, end in sums)
    return statistics.median(steps), all_sums / len(steps), overlap(sums, spans["run"]) / all_sums


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    megabits = float(sys.argv[2]) if len(sys.argv) > 2 else 1000
    transport = sys.argv[3] if len(sys.argv) > 3 else "openmpi"
    with tempfile.TemporaryDirectory() as name, hosts.TwoHosts(name) as two:
        folder = pathlib.Path(name)
        for host in two.names if megabits else ():
            subprocess.run(["ip", "netns", "exec", host, "tc", "qdisc", "add", "dev", hosts.INTERFACE, "root", "tbf",
                            "rate", f"{megabits}mbit", "burst", "256kb", "latency", "100ms"], check=True)
        (folder / "model.pdl").write_text(NETWORK)
        rows = 2 * ROWS * STEPS
        make = (f"import numpy as np; r = np.random.default_rng(0); "
                f"np.savez('{folder}/data.npz', x=r.normal(size=({rows}, 512)).astype('f'), "
                f"target=r.normal(size=({rows}, 1024)).astype('f'))")
        subprocess.run([sys.executable, "-c", make], check=True)
        command = [*two.launcher(transport, 2), str(program), "train", str(folder / "model.pdl"), "--data",
                   str(folder / "data.npz"), "--batch-size", str(2 * ROWS), "--threads", "1", "--out", str(folder / "out"),
                   "--overwrite", "--quiet"]
        results = {"1GiB": [], "8MiB": []}
        for _ in range(3):
            for bucket, found in results.items():
                found.append(measure(command, bucket, folder))
        print("| bucket | step | sums of gradients | hidden |\n|---|---|---|---|")
        for bucket, found in results.items():
            step, sums, hidden = (statistics.median(each) for each in zip(*found))
            print(f"| {bucket} | {1e3 * step:.0f} ms | {1e3 * sums:.0f} ms | {100 * hidden:.0f} % |")


main()
