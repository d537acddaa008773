"""Comparison of the memory of complete networks with ONNX Runtime and OpenVINO on the CPU: the networks of
`networks.py`, exported by `pdl export`.

memory.py PDL [--only=TEXT] [--json=FILE]

How it measures:
- Each program loads the network from files and runs it once with one thread, in a process of its own.
- The result is the peak of resident memory (VmHWM) from before the network is loaded to after the run, minus what was
  resident before: the interpreter, the libraries, and the inputs.
- pdl loads `.pdlc`, the others `.onnx`. All files have just been written, so they are in the page cache.
- "weights" are the bytes of all parameters and states.

Requires the packages numpy, onnxruntime and pdl; openvino is left out if it is missing. If another one is, this prints
a message and exits with status 0."""

import argparse
import importlib.util
import json
import pathlib
import re
import statistics
import sys
import tempfile

import networks

PROGRAMS = "pdl", "ONNX Runtime", "OpenVINO"


# In the process of a measurement.


def resident(field):
    """The bytes of VmRSS or VmHWM of this process."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{field}:\s*(\d+) kB", status).group(1))


def reset_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def load_and_run(program, network, model, inputs, dims, outputs):
    if program == "pdl":
        import pdl

        pdl.load(network, threads=1)(**inputs)
    elif program == "ONNX Runtime":
        networks.onnxruntime_call(model, dims, inputs, outputs, 1)[0]()
    else:
        networks.openvino_call(networks.openvino_model(model, inputs), inputs, outputs, 1)[0]()


def measure(program, network, model, fed, dims, outputs):
    import numpy

    importlib.import_module({"pdl": "pdl", "ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}[program])
    with numpy.load(fed) as arrays:
        inputs = dict(arrays)
    reset_peak()
    before = resident("VmRSS")
    load_and_run(program, network, model, inputs, dims, outputs)
    return resident("VmHWM") - before


def prepare(program, source, settings, sizes, folder):
    """Writes the network and its inputs, by the names of pdl and of ONNX; returns what `measure` needs of it."""
    import numpy

    import pdl

    folder = pathlib.Path(folder)
    networks.prepare(program, pathlib.Path(source), settings, folder)
    net = pdl.load(folder / "model.pdlc")
    dims, outputs = networks.interface(folder / "model.onnx")
    names = networks.paired(dims, net.inputs)
    numbers = numpy.random.default_rng(0)
    inputs = {name: networks.random_input(net.inputs[ours], sizes, numbers) for name, ours in names.items()}
    numpy.savez(folder / "onnx.npz", **inputs)
    numpy.savez(folder / "pdl.npz", **{names[name]: array for name, array in inputs.items()})
    weights = sum(numpy.asarray(group[name]).nbytes for group in (net.parameters, net.states) for name in group)
    return {"weights": weights, "dims": dims, "outputs": outputs}


# In the process that starts the measurements, and prints them.


def in_child(what, **request):
    """Runs a function of this file in a process of its own; returns its result, or None if it failed."""
    return networks.in_child({"what": what, **request}, {}, __file__)[0]


def measurement(program, case):
    """The bytes of the weights, and the peak of each program that runs the network."""
    _, name, source, sizes, settings = case
    with tempfile.TemporaryDirectory() as folder:
        about = in_child("prepare", program=program, source=str(source), settings=settings, sizes=sizes,
                         folder=folder)
        row = {"name": name, "weights": about["weights"] if about else None}
        for each in PROGRAMS:
            if about is None or (each == "OpenVINO" and importlib.util.find_spec("openvino") is None):
                continue
            fed = "pdl.npz" if each == "pdl" else "onnx.npz"
            row[each] = in_child("measure", program=each, network=folder + "/model.pdlc", model=folder + "/model.onnx",
                                 fed=f"{folder}/{fed}", dims=about["dims"], outputs=about["outputs"])
    return row


def print_table(rows):
    print("| network | weights, MB | pdl | ONNX Runtime | OpenVINO |")
    print("|---" * 5 + "|")
    for row in rows:
        cells = [f"{row[key] / 1e6:.0f}" if row.get(key) is not None else "-" for key in ("weights", *PROGRAMS)]
        print("| " + " | ".join([row["name"], *cells]) + " |")
    for program in PROGRAMS:
        ratios = [row[program] / row["weights"] for row in rows if row.get(program) and row["weights"]]
        if ratios:
            print(f"\n{program}: {statistics.geometric_mean(ratios):.2f} times the weights (geometric mean of "
                  f"{len(ratios)} networks)")


def main():
    if sys.argv[1:2] == ["--child"]:
        request = json.loads(sys.argv[2])
        function = {"prepare": prepare, "measure": measure}[request.pop("what")]
        print(json.dumps(function(**request)))
        return 0
    parser = argparse.ArgumentParser(description="Compares the memory of networks with ONNX Runtime and OpenVINO.")
    parser.add_argument("pdl", help="the program pdl")
    parser.add_argument("--only", default="", metavar="PART", help="networks whose name or kind contains this")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the measurements to a file")
    arguments = parser.parse_args()
    for package in "numpy", "onnxruntime", "pdl":
        if importlib.util.find_spec(package) is None:
            print(f"memory.py: the package {package} is missing; nothing is measured")
            return 0
    rows = []
    for case in networks.CASES:
        if arguments.only not in case[0] and arguments.only not in case[1]:
            continue
        rows.append(measurement(arguments.pdl, case))
        print({key: value and round(value / 1e6) if key != "name" else value for key, value in rows[-1].items()},
              file=sys.stderr)
    print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
