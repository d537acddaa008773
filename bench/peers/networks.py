"""Comparison of complete networks with ONNX Runtime and OpenVINO on the CPU: the networks of `bench/networks`, some of
`examples`, and ONNX models given on the command line. Those in pdl are exported by `pdl export`, so all programs
have the same graph and the same weights.

networks.py PDL [MODEL.onnx...] [--size=N=1] [--threads=1,2] [--isa=avx512,avx2] [--precision=bf16] [--only=TEXT]
            [--json=FILE]

How it measures:
- Inputs are random, and so are all weights: parameters that a network initializes with one number (biases, scales,
  statistics) are changed, since a program may remove an addition of zeros.
- Results are compared first, by the largest difference from ONNX Runtime's, relative to the largest element. More than
  1e-4 is an error in pdl; an OpenVINO that differs by more is left out.
- The programs take turns, for some runs each, with pauses, since threads of ONNX Runtime spin for a while when they
  are done. The order changes from round to round. A time is the median over the rounds; a ratio is the median of the
  rounds' ratios, with its quartiles.
- Peers know all sizes when they load a model, and their inputs are bound before the runs.
- "GFLOP" counts the multiplications and additions of matmuls and convolutions (attention consists of matmuls), except
  those of constants alone, from OpenVINO's shapes. "% of the peak" relates them to the speed of a matmul of 1024 rows
  and columns in the same rounds, of pdl or NumPy, whichever is faster. Winograd's algorithm needs fewer operations than
  are counted, so it can exceed the peak.
- Each measurement is a process of its own, on as many processors as it has threads. With --isa=avx2, pdl, oneDNN and
  the code that OpenVINO generates do not use AVX-512. ONNX Runtime, whose matmul OpenVINO contains, has no such limit.

With --precision=bf16, pdl and OpenVINO multiply in bf16; pdl in f32 is measured, too. ONNX Runtime has only f32: it is
no peer then, and the results are compared with its. A difference of more than 1e-1 is an error.

With --json=FILE, measurements are added to those in the file, and the tables show all of them, so a long comparison can
be made in parts.

Requires the packages numpy, onnxruntime and pdl; openvino is left out if it is missing. If another one is, this prints
a message and exits with status 0."""

import argparse
import importlib.util
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
NETWORKS = HERE.parent / "networks"
EXAMPLES = HERE.parent.parent / "examples"
ROUND_SECONDS, PAUSE_SECONDS = 0.15, 0.02
TOLERANCES = {"f32": 1e-4, "bf16": 1e-1}
PEAK_SIZE = 1024
KEYS = "threads", "isa", "precision"  # of a table

IMAGE = {"N": 1, "H": 7, "W": 7}
# Kind, name, source, sizes, values of `attr`.
CASES = [
    ("MLP", "MLP 784-256-256-10", NETWORKS / "mlp.pdl", {"N": 1}, {}),
    ("MLP", "MLP 784-256-256-10, batch 64", NETWORKS / "mlp.pdl", {"N": 64}, {}),
    ("classic CNN", "ResNet-50", EXAMPLES / "resnet" / "resnet.pdl", IMAGE, {}),
    ("classic CNN", "ResNet-50, batch 8", EXAMPLES / "resnet" / "resnet.pdl", {"N": 8, "H": 7, "W": 7}, {}),
    ("classic CNN", "VGG-16", NETWORKS / "vgg.pdl", {"N": 1}, {}),
    ("classic CNN", "ResNeXt-50 32x4d", NETWORKS / "resnext.pdl", IMAGE, {}),
    ("mobile CNN", "MobileNetV2", NETWORKS / "mobilenet.pdl", IMAGE, {}),
    ("mobile CNN", "MobileNetV3-Large", NETWORKS / "mobilenet_v3.pdl", IMAGE, {}),
    ("mobile CNN", "EfficientNet-B0", NETWORKS / "efficientnet.pdl", IMAGE, {}),
    ("segmentation", "U-Net, 256x256", NETWORKS / "unet.pdl", {"N": 1, "H": 16, "W": 16}, {}),
    ("segmentation", "DeepLabV3+, 256x256", NETWORKS / "deeplab.pdl", {"N": 1, "H": 16, "W": 16}, {}),
    ("detection", "YOLOv5-S-like, 320x320", NETWORKS / "yolo.pdl", {"N": 1, "H": 10, "W": 10}, {}),
    ("vision transformer", "ViT-B/16", NETWORKS / "vit.pdl", {"N": 1}, {}),
    ("vision transformer", "ViT-S/16", NETWORKS / "vit.pdl", {"N": 1}, {"width": 384, "heads": 6}),
    ("vision transformer", "Swin-T", NETWORKS / "swin.pdl", {"N": 1}, {}),
    ("encoder", "encoder layer d=768, S=16", NETWORKS / "encoder_layer.pdl", {"N": 1, "T": 16}, {}),
    ("encoder", "BERT-base, S=16", NETWORKS / "bert.pdl", {"N": 1, "T": 16}, {}),
    ("encoder", "BERT-base, S=128", NETWORKS / "bert.pdl", {"N": 1, "T": 128}, {}),
    ("encoder", "Transformer-XL-like, S=128", NETWORKS / "transformer_xl.pdl", {"N": 1}, {}),
    ("encoder", "DeBERTa-base-like, S=128", NETWORKS / "deberta.pdl", {"N": 1}, {}),
    ("decoder", "GPT-2 small, 1 token after 256", NETWORKS / "gpt2.pdl", {"N": 1, "T": 1, "P": 256}, {}),
    ("decoder", "GPT-2 small, 128 tokens after 128", NETWORKS / "gpt2.pdl", {"N": 1, "T": 128, "P": 128}, {}),
    ("decoder", "Llama-like 110M, 1 token after 256", NETWORKS / "llama.pdl", {"N": 1, "T": 1, "P": 256}, {}),
    ("audio", "wav2vec 2.0 base, 3 s", NETWORKS / "wav2vec.pdl", {"N": 1, "S": 48000}, {}),
    ("audio", "Whisper base encoder, S=1500", NETWORKS / "whisper.pdl", {"N": 1}, {}),
    ("state space", "Mamba, 8 layers, S=128", EXAMPLES / "mamba" / "mamba.pdl", {"N": 1, "T": 128},
     {"depth": 8, "vocabulary": 5000}),
]


# In the process of a measurement.


def random_weights(net):
    """Values for the parameters and states that the network initializes with one number each."""
    import numpy

    numbers = numpy.random.default_rng(1)
    values = {}
    for group in net.parameters, net.states:
        for name in group:
            value = numpy.asarray(group[name])
            if value.size > 1 and value.dtype.kind == "f" and value.min() == value.max():
                value = value + 0.1 * numbers.standard_normal(value.shape).clip(-3, 3).astype(value.dtype)
            values[name] = value
    return values


def prepare(program, source, settings, folder):
    """Writes the network to model.pdlc and, for the peers, to model.onnx."""
    import pdl

    net = pdl.load(source, settings=settings)
    net = pdl.load(source, settings=settings, weights=random_weights(net))
    net.save(folder / "model.pdlc")
    subprocess.run([program, "export", folder / "model.pdlc", "-o", folder / "model.onnx"], check=True)


def random_input(declared, sizes, numbers):
    """An array of a declared type, such as 'f32[N, 3, 32*H, 32*W]' or 'i64[N, T] in 0..1000'."""
    import numpy

    dtype, _, rest = declared.partition("[")
    dims, _, limits = rest.partition("]")
    try:
        known = {**sizes, "min": min, "max": max}
        shape = [eval(dim, {"__builtins__": {}}, known) for dim in dims.split(", ") if dim]  # arithmetic of sizes
    except NameError as error:
        sys.exit(f"the size {error.name} of an input is not known; set it with --size={error.name}=...")
    family = {"f": "float", "i": "int", "u": "uint"}.get(dtype[0])
    kind = numpy.dtype(family + dtype[1:] if family else "bool")
    if kind.kind == "f":
        return numbers.standard_normal(shape).astype(kind)
    # Without a limit, 0 and 1 are valid for masks and for indices of any table.
    limit = limits.rpartition("..")[2].lstrip("=")
    return numbers.integers(0, int(limit) if limit else 2, shape).astype(kind)


def interface(model):
    """The dims (numbers, and names of sizes) of the inputs of an ONNX model by name, and the names of its outputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return {value.name: value.shape for value in session.get_inputs()}, [value.name for value in session.get_outputs()]


def paired(names, ours):
    """Our name for each name of the model: the same, or the one in the same position if an import has changed it."""
    return {name: name if name in ours else list(ours)[i] for i, name in enumerate(names)}


def onnxruntime_call(model, dims, inputs, outputs, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    for name, array in inputs.items():
        for dim, size in zip(dims[name], array.shape):
            if isinstance(dim, str):
                options.add_free_dimension_override_by_name(dim, size)
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for name in outputs:
        binding.bind_output(name, "cpu")

    def call():
        session.run_with_iobinding(binding)
        return binding.get_outputs()

    return call, lambda: dict(zip(outputs, (value.numpy() for value in call())))


def flops_of(model):
    """The multiplications and additions of the matmuls and convolutions of a model of OpenVINO with known sizes, except
    those of constants alone."""
    total, constants = 0, set()
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        operands = [node.input_value(i).get_node().get_friendly_name() for i in range(node.get_input_size())]
        if kind == "Constant" or (operands and constants.issuperset(operands)):
            constants.add(node.get_friendly_name())
        elif kind in ("MatMul", "Convolution", "GroupConvolution", "ConvolutionBackpropData", "Einsum"):
            total += flops_of_node(node, kind)
    return total


def flops_of_node(node, kind):
    first, second = (list(node.input(i).get_shape()) for i in (0, 1))
    elements = math.prod(node.output(0).get_shape())
    if kind == "MatMul":
        depth = first[-2 if node.get_attributes()["transpose_a"] else -1]
    elif kind == "Convolution":
        depth = math.prod(second[1:])
    elif kind == "GroupConvolution":
        depth = math.prod(second[2:])
    elif kind == "ConvolutionBackpropData":
        elements, depth = math.prod(first), math.prod(second[1:])
    else:
        terms = node.get_attributes()["equation"].replace(" ", "").split("->")[0].split(",")
        labels = {label: size for i, term in enumerate(terms) for label, size in
                  zip(term, node.input(i).get_shape())}
        elements, depth = math.prod(labels.values()), 1
    return 2 * elements * depth


def openvino_model(model, inputs):
    import openvino

    loaded = openvino.Core().read_model(model)
    loaded.reshape({name: list(array.shape) for name, array in inputs.items()})
    loaded.validate_nodes_and_infer_types()
    return loaded


def openvino_call(loaded, inputs, outputs, threads, precision):
    import openvino

    compiled = openvino.Core().compile_model(loaded, "CPU", {
        "INFERENCE_PRECISION_HINT": precision, "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    for name, array in inputs.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def call():
        request.start_async()
        request.wait()

    def results():
        call()
        return {name: request.get_tensor(name).data.copy() for name in outputs}

    return call, results


def seconds_of_one(call, runs):
    """The median time of some runs, after a pause and, for short runs, a first one that is not measured."""
    time.sleep(PAUSE_SECONDS)
    if runs > 1:
        call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(network, model, sizes, threads, precision, rounds, with_openvino):
    """The measurement of one network as a dict."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import numpy

    import pdl

    numbers = numpy.random.default_rng(0)
    net = pdl.load(network, threads=threads, precision=precision)
    # The model lacks inputs that only a loss reads.
    dims, outputs = interface(model)
    our_inputs, our_outputs = paired(dims, net.inputs), paired(outputs, net.outputs)
    inputs = {name: random_input(net.inputs[ours], sizes, numbers) for name, ours in our_inputs.items()}
    fed = {ours: inputs[name] for name, ours in our_inputs.items()}

    def our_results():
        found = net(**fed)
        return {name: numpy.asarray(found[ours]) for name, ours in our_outputs.items()}

    calls, results = {"pdl": lambda: net(**fed)}, {"pdl": our_results}
    if precision != "f32":
        exact = pdl.load(network, threads=threads)
        calls["pdl in f32"] = lambda: exact(**fed)
    versions, flops = {}, None
    import onnxruntime

    versions["ONNX Runtime"] = onnxruntime.__version__
    calls["ONNX Runtime"], results["ONNX Runtime"] = onnxruntime_call(model, dims, inputs, outputs, threads)
    if importlib.util.find_spec("openvino"):
        import openvino

        try:
            loaded = openvino_model(model, inputs)
            flops = flops_of(loaded)
            if with_openvino:
                calls["OpenVINO"], results["OpenVINO"] = openvino_call(
                    loaded, inputs, outputs, threads, precision)
                versions["OpenVINO"] = openvino.__version__.split("-")[0]
        except RuntimeError as error:
            print(f"OpenVINO does not run this network: {str(error).splitlines()[-1]}", file=sys.stderr)

    expected = results["ONNX Runtime"]()
    errors = {}
    for program in results:
        if program != "ONNX Runtime":
            found = results[program]()
            errors[program] = max(float(numpy.abs(found[name] - expected[name]).max() / numpy.abs(expected[name]).max())
                                  for name in outputs if expected[name].size)
    if not errors.get("OpenVINO", 0) < TOLERANCES[precision]:
        print(f"OpenVINO's results differ by {errors['OpenVINO']:.0e}: it is left out", file=sys.stderr)
        del calls["OpenVINO"]

    matmul = pdl.compile(f"input x: f32[{PEAK_SIZE}, {PEAK_SIZE}]\n"
                         f"param w: f32[{PEAK_SIZE}, {PEAK_SIZE}] = normal(std=0.1)\noutput y = x @ w", threads=threads)
    x = numbers.standard_normal((PEAK_SIZE, PEAK_SIZE)).astype(numpy.float32)
    peaks = {"matmul of pdl": lambda: matmul(x=x), "matmul of NumPy": lambda: x @ x}
    calls.update(peaks)
    runs = {name: max(1, round(ROUND_SECONDS / seconds_of_one(call, 2))) for name, call in calls.items()}
    runs.update(dict.fromkeys(peaks, 3))
    times = {name: [] for name in calls}
    for i in range(rounds):
        names = list(calls)
        for name in names[i % len(names):] + names[:i % len(names)]:
            times[name].append(seconds_of_one(calls[name], runs[name]))
    return {"times": times, "errors": errors, "flops": flops, "versions": versions,
            "peak": 2 * PEAK_SIZE**3 / min(statistics.median(times.pop(name)) for name in peaks)}


# In the process that starts the measurements, and prints them.


def in_child(request, environment, script=__file__):
    """Runs a function of the script in a process of its own; returns its result, or None, and its exit status."""
    done = subprocess.run([sys.executable, script, "--child", json.dumps(request)], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None, done.returncode


def child(request):
    if request.pop("what") == "prepare":
        source, folder = pathlib.Path(request["source"]), pathlib.Path(request["folder"])
        prepare(request["program"], source, request["settings"], folder)
        print("true")
    else:
        print(json.dumps(measure(**request)))


def isa_environment(isa):
    # The threads of NumPy's matmul, by OpenBLAS, would otherwise keep their processors busy for some 50 ms.
    quiet = {"OPENBLAS_THREAD_TIMEOUT": "4"}
    if isa != "avx2":
        return quiet
    return {**quiet, "PDL_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def ratio_of(row):
    """The better peer, and the lower quartile, the median and the upper quartile of pdl's time relative to its time; None
    if there is no peer."""
    times = row["times"]
    peers = {"f32": ["ONNX Runtime", "OpenVINO"], "bf16": ["OpenVINO"]}[row["precision"]]
    peer = min((name for name in peers if name in times), default=None,
               key=lambda name: statistics.median(times[name]))
    if peer is None:
        return None
    return peer, statistics.quantiles([a / b for a, b in zip(times["pdl"], times[peer])], n=4, method="inclusive")


def milliseconds(seconds):
    value = 1e3 * seconds
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def programs_of(precision):
    """The programs of a table, each with its column."""
    return ["pdl", *(["pdl in f32"] if precision != "f32" else []), "ONNX Runtime", "OpenVINO"]


def table_row(row):
    if row["times"] is None:
        return f"| {row['kind']} | {row['name']} | failed" + " |" * (len(programs_of(row["precision"])) + 4)
    times = {name: statistics.median(values) for name, values in row["times"].items()}
    found = ratio_of(row)
    cells = [row["kind"], row["name"], "-" if not row["flops"] else f"{row['flops'] / 1e9:.3g}"]
    for name in programs_of(row["precision"]):
        cells.append(milliseconds(times[name]) if name in times else "-")
    shares = {name: 100 * (row["flops"] or 0) / seconds / row["peak"] for name, seconds in times.items()}
    if found:
        peer, (low, middle, high) = found
        cells.append(f"{middle:.2f} ({low:.2f}-{high:.2f})")
        cells.append(f"{shares['pdl']:.0f} / {shares[peer]:.0f}" if row["flops"] else "-")
    else:
        cells += ["-", f"{shares['pdl']:.0f}" if row["flops"] else "-"]
    cells.append(" / ".join(f"{error:.0e}" for error in row["errors"].values()))
    return "| " + " | ".join(cells) + " |"


def print_table(rows, threads, isa, precision):
    measured = [row for row in rows if row["times"]]
    heading = [f"{threads} thread{'s' * (threads > 1)}, {isa}, {precision}, times in ms"]
    if measured:
        heading.append(f"matmul {statistics.median(row['peak'] for row in measured) / 1e9:.0f} GFLOP/s")
    versions = {name: version for row in measured for name, version in row["versions"].items()}
    heading += [f"{name} {version}" for name, version in versions.items()]
    print("\n" + "; ".join(heading))
    programs = programs_of(precision)
    print(f"\n| kind | network | GFLOP | {' | '.join(programs)} | to the better peer (quartiles) "
          "| % of the peak, pdl / peer | differs by |")
    print("|---" * (len(programs) + 6) + "|")
    for row in rows:
        print(table_row(row))
    ratios = [found[1][1] for found in map(ratio_of, measured) if found]
    if ratios:
        print(f"\nGeometric mean {statistics.geometric_mean(ratios):.3f}, median {statistics.median(ratios):.2f}, "
              f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} slower than the better peer")


def measurements(program, case, configurations, rounds):
    """Yields the measurement of a network in each configuration; "times" is None if it failed."""
    kind, name, source, sizes, settings = case
    with tempfile.TemporaryDirectory() as folder:
        network, model = source, source
        is_ready = True
        if source.suffix == ".pdl":
            network, model = pathlib.Path(folder, "model.pdlc"), pathlib.Path(folder, "model.onnx")
            is_ready, _ = in_child({"what": "prepare", "program": program, "source": str(source),
                                    "settings": settings, "folder": folder}, {})
        for threads, isa, precision in configurations:
            request = {"what": "measure", "network": str(network), "model": str(model), "sizes": sizes,
                       "threads": threads, "precision": precision, "rounds": rounds, "with_openvino": True}
            environment = {**isa_environment(isa), "OPENBLAS_NUM_THREADS": str(threads)}
            found, status = in_child(request, environment) if is_ready else (None, 1)
            if status < 0:
                print(f"{name}: ended by signal {-status}; again, without OpenVINO", file=sys.stderr)
                found, status = in_child({**request, "with_openvino": False}, environment)
            yield {"kind": kind, "name": name, "threads": threads, "isa": isa, "precision": precision, "times": None,
                   **(found or {})}


def main():
    if sys.argv[1:2] == ["--child"]:
        child(json.loads(sys.argv[2]))
        return 0
    parser = argparse.ArgumentParser(description="Compares networks with ONNX Runtime and OpenVINO on the CPU.")
    parser.add_argument("pdl", help="the program pdl")
    parser.add_argument("models", nargs="*", type=pathlib.Path, help="ONNX models, instead of the listed networks")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=NUMBER", help="a size of models' inputs")
    parser.add_argument("--threads", default="1", help="numbers of threads: 1,2")
    parser.add_argument("--isa", default="best", help="instruction sets: avx512,avx2; by default the machine's best")
    parser.add_argument("--precision", choices=TOLERANCES, default="f32", help="what matmuls multiply")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each measurement")
    parser.add_argument("--only", default="", metavar="PART", help="networks whose name or kind contains this")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="adds the measurements to a file")
    arguments = parser.parse_args()

    for package in "numpy", "onnxruntime", "pdl":
        if importlib.util.find_spec(package) is None:
            print(f"skipped: no Python package {package}")
            return 0
    if arguments.rounds < 2:
        parser.error("--rounds must be at least 2")
    wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text().split()
    isas = ["avx512" if wide else "avx2"] if arguments.isa == "best" else arguments.isa.split(",")
    if unknown := set(isas) - {"avx512", "avx2"}:
        parser.error(f"unknown instruction set {unknown.pop()}")
    if "avx512" in isas and not wide:
        print("skipped: avx512, which this processor lacks")
        isas.remove("avx512")
    thread_counts = [int(count) for count in arguments.threads.split(",")]
    sizes = {name: int(number) for name, number in (size.split("=") for size in arguments.size)}
    cases = CASES
    if arguments.models:
        cases = [("given", model.name, model, sizes, {}) for model in arguments.models]

    configurations = list(itertools.product(thread_counts, isas, [arguments.precision]))
    rows = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else []
    for row in rows:
        row.setdefault("precision", "f32")  # files from before there was an option
    failed = False
    for case in cases:
        if arguments.only not in case[0] and arguments.only not in case[1]:
            continue
        for row in measurements(arguments.pdl, case, configurations, arguments.rounds):
            if row["times"] is None or not row["errors"]["pdl"] < TOLERANCES[row["precision"]]:
                print(f"{row['name']}: {'the results differ' if row['times'] else 'failed'}", file=sys.stderr)
                failed = True
            print(f"{row['threads']} {row['isa']} {table_row(row)}", file=sys.stderr, flush=True)
            rows = [r for r in rows if any(r[key] != row[key] for key in ("name", *KEYS))] + [row]
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=1))
    order = {case[1]: i for i, case in enumerate(CASES)}
    rows.sort(key=lambda row: order.get(row["name"], len(order)))
    for key in sorted({tuple(row[name] for name in KEYS) for row in rows}):
        print_table([row for row in rows if tuple(row[name] for name in KEYS) == key], *key)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
