"""Writes an ONNX model, y = Relu(x), of a given version of the operator set: relu_model.py VERSION FILE."""
import pathlib
import sys

version, file = int(sys.argv[1]), pathlib.Path(sys.argv[2])


def field(number: int, content: bytes) -> bytes:
    """A protobuf field of bytes, shorter than 128."""
    return bytes([number << 3 | 2, len(content)]) + content


def value(name: bytes) -> bytes:  # f32[2]
    tensor = b"\x08\x01" + field(2, field(1, b"\x08\x02"))
    return field(1, name) + field(2, field(1, tensor))


node = field(1, b"x") + field(2, b"y") + field(4, b"Relu")
graph = field(1, node) + field(2, b"g") + field(11, value(b"x")) + field(12, value(b"y"))
operator_set = field(1, b"") + bytes([2 << 3, version])
file.write_bytes(b"\x08\x08" + field(7, graph) + field(8, operator_set))
