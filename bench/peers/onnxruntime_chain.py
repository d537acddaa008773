"""The overhead of a call in ONNX Runtime: the chain of `bench/dispatch.cc`, 1000 `Add`s of different
constants, one thread, no graph optimization that would fold it. Needs the packages onnx, onnxruntime
and numpy; if they are missing, it prints a message and exits with status 0."""

import statistics
import sys
import time

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: no Python package {missing.name} "
          "(python3 -m venv .venv && .venv/bin/pip install onnx onnxruntime)")
    sys.exit(0)

CALLS = 1000


def chain():
    """The serialized model: y = x + 0.5 + 0.501 + …, f32[N]."""
    nodes, constants = [], []
    for i in range(CALLS):
        value = numpy.array(0.5 + 0.001 * i, numpy.float32)
        constants.append(onnx.numpy_helper.from_array(value, f"c{i}"))
        nodes.append(onnx.helper.make_node("Add", [f"y{i}", f"c{i}"], [f"y{i + 1}"]))
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "chain", [tensor("y0", onnx.TensorProto.FLOAT, ["N"])],
                                   [tensor(f"y{CALLS}", onnx.TensorProto.FLOAT, ["N"])], constants)
    opset = onnx.helper.make_opsetid("", 17)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    return model.SerializeToString()


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(chain(), options, providers=["CPUExecutionProvider"])
    print(f"ONNX Runtime {onnxruntime.__version__}, chain of {CALLS} adds, ns per call")
    for size in (1, 16, 1024):
        x = numpy.full(size, 0.25, numpy.float32)
        feed = {"y0": x}
        got = session.run(None, feed)[0]
        wanted = 0.25 + sum(0.5 + 0.001 * i for i in range(CALLS))
        assert abs(got[0] / wanted - 1) < 1e-4, (got[0], wanted)
        times = []
        for _ in range(300):
            start = time.perf_counter_ns()
            session.run(None, feed)
            times.append((time.perf_counter_ns() - start) / CALLS)
        print(f"{size:6d} floats  median {statistics.median(times):7.1f}  best {min(times):7.1f}")


if __name__ == "__main__":
    main()
