"""Weights files, and the rules by which they are loaded."""

import json
import struct
import warnings

import numpy as np
import pytest

import pdl

SOURCE = """input x: f32[N, 2]
net = fc(x, size=3)
output y = net
"""
MATRIX = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def write(path, tensors):
    """Writes arrays as bf16."""
    header, data = {}, b""
    for name, array in tensors.items():
        bits = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
        header[name] = {"dtype": "BF16", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "model-1.safetensors", {"lin.weight": MATRIX})
    write(tmp_path / "model-2.safetensors", {"lin.bias": np.ones(3), "head": np.ones(1)})
    files = {"lin.weight": "model-1.safetensors", "lin.bias": "model-2.safetensors", "head": "model-2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    return tmp_path


RULES = dict(cast=True, rename={"lin": "net", "weight": "w", "bias": "b"}, transpose=["*.weight"])


@pytest.mark.parametrize("name", ["model.safetensors.index.json", "model-*.safetensors"])
def test_split_and_converted(folder, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = pdl.compile(SOURCE, weights=pdl.weights(folder / name, partial=True, **RULES))
    np.testing.assert_array_equal(np.asarray(net.parameters["net.w"]), MATRIX.T)
    np.testing.assert_array_equal(np.asarray(net(x=[[1, 2]])["y"]), [[6, 12, 18]])


def test_what_is_left_over_is_a_warning(folder):
    with pytest.warns(UserWarning, match="no parameter or state of the network: head"):
        pdl.compile(SOURCE, weights=pdl.weights(folder / "model-*.safetensors", **RULES))


def test_what_does_not_fit(folder):
    path = folder / "model.safetensors.index.json"
    with pytest.raises(pdl.WeightError, match="2 of 2 tensors do not fit") as caught:
        pdl.compile(SOURCE, weights=path)
    assert "'net.w' is missing: f32[2, 3]" in str(caught.value)
    with pytest.raises(pdl.Error, match="rename: no tensor has 'linear' in its name") as caught:
        pdl.compile(SOURCE, weights=pdl.weights(path, rename={"linear": "net"}))
    assert caught.value.code == "PDL0411"
    (folder / "bad.json").write_text('{"weight_map": {"w": "../model-1.safetensors"}}')
    with pytest.raises(pdl.FileError, match="is not a file in the index's folder") as caught:
        pdl.compile(SOURCE, weights=folder / "bad.json")
    assert caught.value.code == "PDL0403"


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="cast must be True or False, not int"):
        pdl.weights("x.safetensors", cast=1)
    with pytest.raises(TypeError, match="names of tensors must be strings, not int"):
        pdl.weights("x.safetensors", transpose=[1])
    with pytest.raises(ValueError, match="cannot contain ':'"):
        pdl.weights("x.safetensors", rename={"a:b": "c"})
    assert repr(pdl.weights("x", cast=True)) == "pdl.weights('x', cast=true)"


def test_pytorch_needs_pytorch(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(pdl.FileError, match="read by PyTorch, which is not installed"):
        pdl.compile(SOURCE, weights=folder / "model.bin")


def test_pytorch_files(folder):
    torch = pytest.importorskip("torch")
    weight, bias = torch.from_numpy(MATRIX).to(torch.bfloat16), torch.ones(3)
    torch.save({"lin.weight": weight, "lin.bias": bias}, folder / "model.pt")
    net = pdl.compile(SOURCE, weights=pdl.weights(folder / "model.pt", **RULES))
    np.testing.assert_array_equal(np.asarray(net.parameters["net.w"]), MATRIX.T)
    torch.save({"lin.weight": weight}, folder / "part-1.bin")
    torch.save({"lin.bias": bias}, folder / "part-2.bin")
    files = {"lin.weight": "part-1.bin", "lin.bias": "part-2.bin"}
    (folder / "model.bin.index.json").write_text(json.dumps({"weight_map": files}))
    net = pdl.compile(SOURCE, weights=pdl.weights(folder / "model.bin.index.json", **RULES))
    np.testing.assert_array_equal(np.asarray(net.parameters["net.w"]), MATRIX.T)
    torch.save([1, 2], folder / "list.pt")
    with pytest.raises(pdl.FileError, match="it contains no tensors by name"):
        pdl.compile(SOURCE, weights=folder / "list.pt")

    class Evil:
        def __reduce__(self):
            return print, ("unsafe",)

    torch.save({"lin.weight": Evil()}, folder / "evil.pt")
    with pytest.raises(pdl.FileError, match="cannot read .*evil.pt"):
        pdl.compile(SOURCE, weights=folder / "evil.pt")
    files["lin.weight"] = "../part-1.bin"
    (folder / "model.bin.index.json").write_text(json.dumps({"weight_map": files}))
    with pytest.raises(pdl.FileError, match="is not a file in the index's folder"):
        pdl.compile(SOURCE, weights=folder / "model.bin.index.json")


def test_parameters_share_a_name_and_load():
    graph = """input a: f32[N, 2]
p = fc(a, size=3, param_attr={name="shared"}, bias=false)
q = fc(a, size=3, param_attr={name="shared"}, bias=false)
output p
output q
"""
    net = pdl.compile(graph)
    assert list(net.parameters) == ["shared"]
    outputs = net(a=np.ones((1, 2), np.float32))
    np.testing.assert_array_equal(np.asarray(outputs["p"]), np.asarray(outputs["q"]))
