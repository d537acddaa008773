"""What the models of import_runtime.py are made of."""

import collections

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

# A model, its inputs, and its expected outputs if ONNX Runtime cannot compute them (a function of the inputs).
Case = collections.namedtuple("Case", "name model feeds expect", defaults=(None,))

FLOAT, BOOL, UINT8 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.UINT8
INT32, INT64 = TensorProto.INT32, TensorProto.INT64
RANDOM = numpy.random.default_rng(7)


def node(op, inputs, outputs, **attributes):
    """Names are parted by blanks; "-" is left out."""
    split = lambda names: ["" if name == "-" else name for name in names.split()]
    return helper.make_node(op, split(inputs), split(outputs), **attributes)


def value(name, sizes, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, sizes)


def make(nodes, inputs, outputs, constants=None, opset=20):
    """`inputs` are values, `outputs` names (of floats) or values, `constants` arrays by name."""
    tensors = [onnx.numpy_helper.from_array(numpy.asarray(array), name) for name, array in (constants or {}).items()]
    infos = [value(name, None) if isinstance(name, str) else name for name in outputs]
    graph = helper.make_graph(nodes, "g", inputs, infos, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def floats(*sizes):
    return RANDOM.standard_normal(sizes).astype("float32")


def run_runtime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)
