#!/usr/bin/env python3
"""export.py PDL ROOT [--only=OP] [--write | --check] [--networks]: tests `pdl export` with ONNX's checker and
ONNX Runtime.

Every case of the operators' tests is exported, with constant sizes and, if it compiles, with symbolic sizes; checked;
run by ONNX Runtime on the inputs of the case; and compared with the expected outputs. --networks does the same with
the networks of examples/, compared with `pdl run`. --write writes the results into docs/onnx.md; --check fails if
docs/onnx.md differs.

Exit status 77 if Python has no onnx, onnxruntime or numpy, which ./dev installs from PyPI in .venv.
"""

import argparse
import collections
import json
import multiprocessing
import os
import re
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime

    import cases
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from library import Pdl

# Outcomes of cases that fail.
WRONG = ("broken", "failed", "differs", "crashed")
BEGIN, END = "<!-- what cannot be exported -->", "<!-- end -->"
# Messages of ONNX Runtime for a valid model with a dtype for which it has no kernel, or that its result has.
NO_KERNEL = re.compile(r"NOT_IMPLEMENTED|Could not find an implementation|not yet implemented|"
                       r"No corresponding Numpy type|ImportError|data type .* not supported|not supported data type", re.IGNORECASE)
# Messages of ONNX Runtime for an index out of range, which pdl allows.
OUTSIDE = re.compile(r"out of data bounds|out of bound|invalid index found|invalid indice found|out of range value in index|must be within the inclusive range",
                     re.IGNORECASE)


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # ONNX Runtime logs failures of constant folding, and computes those calls at run time.
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def check(path):
    onnx.checker.check_model(path, full_check=True)


def differs(got, wanted, tolerance):
    """The reason why they differ, by the rule of `~=`; None if they do not."""
    wanted = numpy.asarray(wanted)
    if got.dtype.kind == "f":
        wanted = wanted.astype(got.dtype)
    if wanted.ndim == 0 and got.size != 1:
        wanted = numpy.broadcast_to(wanted, got.shape)
    if wanted.size == 0 and got.size == 0:
        return None
    if got.shape != wanted.shape and not (wanted.size == got.size == 1):
        return f"the sizes are {got.shape}, wanted {wanted.shape}"
    a = numpy.asarray(got).astype("float64").reshape(-1)
    b = wanted.astype("float64").reshape(-1)
    with numpy.errstate(invalid="ignore"):
        near = (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | (
            numpy.isfinite(b) & (numpy.abs(a - b) <= tolerance * numpy.maximum(1, numpy.abs(b))))
    if near.all():
        return None
    worst = numpy.flatnonzero(~near)[0]
    return f"element {worst} is {a[worst]}, wanted {b[worst]}"


def run_case(pdl, case, text, path):
    """The result and the reason. The result is one of: rejected, broken (by the rules of the checker), no kernel,
    outside, failed, special (differs only for nan, infinities or empty tensors), differs, good."""
    why = pdl.save_source(text, path)
    if why is not None:
        return ("rejected" if "[PDL0901]" in why else "uncompiled"), why
    try:
        check(path)
    except Exception as error:  # pylint: disable=broad-except
        return "broken", str(error)
    try:
        model = session(path)
        names = list(case.wanted)
        values = model.run(names, {i.name: case.feeds[i.name] for i in model.get_inputs()})
    except Exception as error:  # pylint: disable=broad-except
        if OUTSIDE.search(str(error)):
            return "outside", str(error)
        return ("no kernel" if NO_KERNEL.search(str(error)) else "failed"), str(error)
    for name, value in zip(names, values):
        wanted, tolerance = case.wanted[name]
        tolerance = max(tolerance, 0.008 if name in case.bf16 else 1e-5)
        why = differs(value, wanted, tolerance)
        if why:
            is_special = re.search("nan|inf|special|empty|nothing|size of 0", case.name)
            return "special" if is_special else "differs", f"{name}: {why}"
    return "good", ""


def judge_op(pdl, path, sender):
    """Sends (result, case, why) for each case of a file; None before each, None at the end."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "case.onnx")
        for case in cases.read(path):
            for kind, text in (("", case.text()), (" with symbols", case.symbolic())):
                if kind and text == case.text():
                    continue
                sender.send(("begins", case.name + kind, ""))
                result, why = run_case(pdl, case, text, out)
                if result != "uncompiled" or not kind:
                    sender.send((result, case.name + kind, why))
    sender.send(("ends", "", ""))


def collect(receiver):
    """The number of cases with each result, and the cases that are not good, including crashes of ONNX Runtime."""
    counts, notes, last = collections.Counter(), [], ("ends", "", "")
    while True:
        try:
            note = receiver.recv()
        except EOFError:
            note = ("crashed", last[1], "ONNX Runtime ended the process")
        if note[0] not in ("begins", "ends"):
            counts[note[0]] += 1
            if note[0] != "good":
                notes.append(note)
        if note[0] in ("ends", "crashed"):
            return counts, notes
        last = note


def reason_of(notes):
    for result, _, why in notes:
        if result == "rejected":
            match = re.search(r"'(\w+)' cannot be exported: (.*?)(?:; \d+ calls.*)? \[PDL", why)
            if match:
                return match[1], match[2]
    return None


def judge_operators(pdl, root, only):
    folder = os.path.join(root, "test/ops")
    listed = pdl("ops", "--format=json").stdout
    ops = sorted(op["type"] for op in json.loads(listed)["ops"])
    paths = {op: os.path.join(folder, op + ".pdl") for op in ops if not only or op in only}
    paths = {op: path for op, path in paths.items() if os.path.exists(path)}
    results = {}
    fork = multiprocessing.get_context("fork")
    waiting, running = collections.deque(paths), collections.deque()
    while waiting or running:
        if waiting and len(running) < os.cpu_count():
            op = waiting.popleft()
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=judge_op, args=(pdl, paths[op], sender))
            process.start()
            sender.close()
            running.append((op, process, receiver))
            continue
        op, process, receiver = running.popleft()
        results[op] = collect(receiver)
        process.join()
    return results


def cases_otherwise(notes):
    """The cases with wrong results in ONNX Runtime; those that are wrong with and without symbols are listed once."""
    cases = [case for result, case, _ in notes if result in WRONG]
    return [case for case in cases if case.removesuffix(" with symbols") == case
            or case.removesuffix(" with symbols") not in cases]


def page(results):
    """The table of operators that cannot be exported."""
    lines = []
    whole, partly, none, untested = [], [], [], []
    for op, (counts, notes) in sorted(results.items()):
        good, rejected = counts["good"] + counts["no kernel"], counts["rejected"]
        if good and not rejected:
            whole.append(op)
        elif good:
            partly.append((op, reason_of(notes)))
        elif rejected:
            none.append((op, reason_of(notes)))
        else:
            untested.append(op)
    lines.append(f"{len(whole)} operators are exported in every case of their tests, {len(partly)} in some, "
                 f"{len(none)} in none. Ragged and sparse values are not, whatever takes them.")
    lines += ["", "| operator | not exported, because |", "|---|---|"]
    for op, reason in partly:
        lines.append(f"| `{op}`, in some cases | {reason[1] if reason else ''} |")
    by_reason = collections.defaultdict(list)
    for op, reason in none:
        by_reason[reason[1] if reason else ""].append(op)
    for reason, names in sorted(by_reason.items()):
        lines.append("| " + ", ".join(f"`{name}`" for name in names) + f" | {reason} |")
    otherwise = {op: cases_otherwise(notes) for op, (_, notes) in sorted(results.items())}
    if any(otherwise.values()):
        lines += ["", "In ONNX Runtime these cases come out otherwise:", "", "| operator | case |", "|---|---|"]
        lines += [f"| `{op}` | {'; '.join(names).replace('|', '/')} |" for op, names in otherwise.items() if names]
    if untested:
        lines += ["", "Without a case that is a network of dense inputs: " +
                  ", ".join(f"`{op}`" for op in untested) + "."]
    return "\n".join(lines) + "\n"


def feed_of(model, sizes):
    """Random inputs for an ONNX model, whose symbols have these sizes."""
    generator = numpy.random.default_rng(1)
    feeds = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else sizes.get(d.dim_param, 3)
                 for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if numpy.issubdtype(dtype, numpy.floating):
            feeds[value.name] = generator.standard_normal(shape).astype(dtype)
        elif dtype == numpy.bool_:
            feeds[value.name] = generator.integers(0, 2, shape).astype(dtype)
        else:
            feeds[value.name] = generator.integers(0, sizes.get("#" + value.name, 3), shape).astype(dtype)
    return feeds


# The networks of the examples, their settings, sizes of symbols, and the tolerance. None: it cannot be exported,
# since it has ragged or sparse inputs, or random operators.
NETWORKS = [
    ("examples/digits/digits.pdl", [], {}, 1e-5),
    ("examples/layers/layers.pdl", [], {}, 1e-5),
    ("examples/siamese/siamese.pdl", [], {}, 1e-5),
    ("examples/gpt2/gpt2.pdl", [], {}, 1e-4),
    # 50 layers with untrained weights; f32 differs from f64 by as much.
    ("examples/resnet/resnet.pdl", [], {"N": 1, "32*H": 64, "32*W": 64}, 1e-3),
    ("examples/embed/model.pdl", [], {}, 1e-5),
    ("examples/unet/unet.pdl", [], {}, None),
    ("examples/wide_deep/wide_deep.pdl", [], {}, None),
    ("examples/tagger/tagger.pdl", [], {}, None),
    ("examples/wgan_gp/wgan_gp.pdl", [], {}, None),
]


def judge_network(pdl, root, path, settings, sizes, tolerance):
    """ "good", or what went wrong."""
    full = os.path.join(root, path)
    flags = [f"--set={setting}" for setting in settings]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "network.onnx")
        done = pdl("export", full, "-o", out, *flags)
        if done.returncode != 0:
            is_rejection = "[PDL0901]" in done.stderr
            return ("rejected: " if is_rejection else "failed: ") + done.stderr.strip().splitlines()[0]
        check(out)
        model = onnx.load(out)
        feeds = feed_of(model, sizes)
        archive = os.path.join(folder, "feeds.npz")
        numpy.savez(archive, **feeds)
        names = [output.name for output in model.graph.output]
        values = session(out).run(names, feeds)
        files = [f"--output={name}={folder}/{i}.npy" for i, name in enumerate(names)]
        inputs = ["--input", archive] if feeds else []
        done = pdl("run", full, *inputs, *files, *flags)
        if done.returncode != 0:
            return "pdl run: " + done.stderr.strip()
        for i, (name, value) in enumerate(zip(names, values)):
            why = differs(value, numpy.load(f"{folder}/{i}.npy"), tolerance)
            if why:
                return f"differs: {name}: {why}"
    return "good"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("root")
    parser.add_argument("--only", action="append")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    pdl = Pdl(arguments.pdl)
    wrong = 0
    if arguments.networks:
        for path, settings, sizes, tolerance in NETWORKS:
            try:
                result = judge_network(pdl, arguments.root, path, settings, sizes, tolerance)
            except Exception as error:  # pylint: disable=broad-except
                result = f"failed: {error}"
            print(f"{path}: {result}")
            wrong += not result.startswith("rejected" if tolerance is None else "good")
        return wrong != 0
    results = judge_operators(pdl, arguments.root, arguments.only)
    total = collections.Counter()
    for op, (counts, notes) in results.items():
        total += counts
        bad = [note for note in notes if note[0] in (*WRONG, "uncompiled")]
        wrong += sum(note[0] in WRONG for note in bad)
        for result, case, why in (notes if arguments.verbose else bad)[:None if arguments.verbose else 4]:
            print(f"{op}: {case}: {result}: {why.strip().splitlines()[0][:220] if why.strip() else ''}")
    print(", ".join(f"{count} {result}" for result, count in sorted(total.items())))
    docs = os.path.join(arguments.root, "docs/onnx.md")
    if arguments.write or arguments.check:
        text = open(docs).read()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        fresh = before + BEGIN + "\n" + page(results) + END + after
        if arguments.write:
            open(docs, "w").write(fresh)
        elif fresh != text:
            print("docs/onnx.md is stale: run test/onnx/export.py PDL ROOT --write")
        # The page lists cases that fail, but a model that the checker rejects is always an error.
        return total["broken"] > 0 or (fresh != text and not arguments.write)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
