"""Networks: compiled, loaded, run, saved."""

from __future__ import annotations

import copy
import errno
import pathlib
import pickle
import subprocess
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import COUNTER, PAIR

import pdl

TEXT = """
attr width: int > 0 = 2
input x: f32[N, 3]
param w: f32[3, width] = normal(std=1.0)
y = cos(x @ w, scale=5.0)
output y
output total = sum(y, axes=[0])
"""


def ones(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


def test_a_text_is_compiled_and_run() -> None:
    net = pdl.compile(TEXT)
    assert net.inputs == {"x": "f32[N, 3]"}
    assert net.outputs == {"y": "f32[N, 2]", "total": "f32[2]"}
    assert net.device == "cpu" and repr(net).startswith("<pdl network (x: f32[N, 3]) -> y: ")
    w = net.parameters["w"].numpy()
    for n in (1, 4):
        results = net(x=ones(n, 3))
        expected = 5 * np.cos(ones(n, 3) @ w)
        assert list(results) == ["y", "total"]
        np.testing.assert_allclose(results["y"], expected, rtol=1e-5)
        np.testing.assert_allclose(results["total"], expected.sum(axis=0), rtol=1e-5)
    assert list(net.run({"x": ones(1, 3)}, outputs=["total"])) == ["total"]
    assert net({"x": ones(1, 3)})["y"].shape == (1, 2)
    assert "plan for cpu" in net.plan(N=4) and "cos" in net.ir() and net.dot().startswith("digraph")


def test_settings_weights_and_seed() -> None:
    assert pdl.compile(TEXT, settings={"width": 7}).outputs["y"] == "f32[N, 7]"
    w = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(pdl.compile(TEXT, weights={"w": w}).parameters["w"], w)
    assert not np.array_equal(
        pdl.compile(TEXT).parameters["w"], pdl.compile(TEXT, seed=1).parameters["w"]
    )
    with pytest.raises(pdl.WeightError, match="no parameter or state 'v'"):
        pdl.compile(TEXT, weights={"v": w})
    with pytest.raises(
        pdl.AttributeValueError, match="attribute 'width' of .* must be larger than 0, got 0"
    ):
        pdl.compile(TEXT, settings={"width": 0})


def test_numbers_and_lists_take_the_dtype_of_the_input() -> None:
    net = pdl.compile("input x: f32[N]\ninput i: i64[]\noutput y = x * cast(i, to=f32)")
    assert net(x=[1, 2.5], i=2)["y"].tolist() == [2, 5]
    with pytest.raises(TypeError, match="expected .*, got floating-point numbers"):
        net(x=[1.0], i=2.5)


@pytest.mark.parametrize(
    "inputs,message",
    [
        ({}, r"no value for input 'x': f32\[N, 3\] \[PDL0501\]"),
        ({"x": ones(2, 4)}, "'x'"),
        ({"x": np.ones((2, 3))}, r"'x'.*f64\[2, 3\]"),
        ({"image": ones(2, 3)}, r"the network has no input 'image' \[PDL0502\]"),
    ],
)
def test_wrong_inputs(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(pdl.RunError, match=message):
        pdl.compile(TEXT)(**inputs)


@pytest.mark.parametrize(
    "text",
    [
        "param w: f32[2] = ones()\noutput w\noutput y = x + w",
        "param w: f32[2] = ones()\noutput v = w\noutput r = reshape(w, [2, 1])",
        "state s: f32[2] = ones()\noutput s",
        "state s: f32[2] = ones()\noutput q = s\noutput r = reshape(s, [2, 1])",
        "output x\noutput z = x",
        "output c = [1.0, 2.0]\noutput d = zeros([2])",
    ],
)
def test_what_a_run_gave_is_written_to(text: str) -> None:
    """Later runs do not use it, whatever the name of the output."""
    net = pdl.compile(f"input x: f32[2]\n{text}\n")
    first = net(x=ones(2))
    before = {name: value.tolist() for name, value in first.items()}
    for value in first.values():
        value.numpy()[...] = 77
    assert {name: value.tolist() for name, value in net(x=ones(2)).items()} == before


def test_a_state_that_is_given_is_written_to() -> None:
    net = pdl.compile("input x: f32[2]\nstate s: f32[2] = zeros()\nupdate s = s + x\noutput s\n")
    first = net(x=ones(2))["s"]
    first.numpy()[...] = 77
    assert net.states["s"].tolist() == [1, 1] and net(x=ones(2))["s"].tolist() == [2, 2]
    assert first.tolist() == [77, 77]


def test_an_output_is_not_taken_for_the_input_of_its_name() -> None:
    net = pdl.compile("input x: f32[N]\noutput x\noutput y = x * 2.0\n")
    assert net(x=[1.0])["y"].tolist() == [2]
    with pytest.raises(pdl.RunError, match="no value for input 'x'"):
        net()


def test_outputs_that_do_without_an_input_are_told() -> None:
    text = "input x: f32[N]\ninput t: f32[N]\noutput y = x * 2.0\noutput loss = mean((x - t) ** 2)\n"
    net = pdl.compile(text)
    with pytest.raises(pdl.RunError, match=r"'t': f32\[N\]; run\(…, outputs=\[\"y\"\]\) does not need it"):
        net(x=[1.0])
    for call in (lambda: net(t=[1.0]), lambda: net.run({"x": [1.0]}, outputs=["loss"])):
        with pytest.raises(pdl.RunError, match=r"no value for input '[xt]': f32\[N\] \[PDL0501\]"):
            call()
    updated = pdl.compile(text + "state s: f32[N] = zeros()\nupdate s = t\n")
    with pytest.raises(pdl.RunError, match=r"no value for input 't': f32\[N\] \[PDL0501\]"):
        updated(x=[1.0])


def test_the_nearest_input_is_named() -> None:
    net = pdl.compile("input image: f32[N]\noutput y = image + 1.0")
    with pytest.raises(pdl.RunError, match="no input 'imgae'; did you mean 'image'"):
        net(imgae=ones(2))


@pytest.mark.parametrize("ending", ["pdl", "pdlc"])
def test_saved_and_loaded(tmp_path: pathlib.Path, ending: str) -> None:
    net = pdl.compile(TEXT)
    path = tmp_path / f"model.{ending}"
    net.save(path)
    assert (tmp_path / "model.safetensors").exists()
    again = pdl.load(path)
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_array_equal(again(x=x)["y"], net(x=x)["y"])
    other = pdl.compile(TEXT, weights=tmp_path / "model.safetensors", seed=3)
    np.testing.assert_array_equal(other.parameters["w"], net.parameters["w"])
    with pytest.raises(pdl.Error, match="must end in .pdl"):
        net.save(tmp_path / "model.txt")
    with pytest.raises(pdl.FileError, match="cannot read") as caught:
        pdl.load(tmp_path / "missing.pdl")
    assert isinstance(caught.value, FileNotFoundError) and caught.value.errno == errno.ENOENT
    assert caught.value.code == "PDL0401"
    (tmp_path / "broken.pdlc").write_bytes(b"no network")
    with pytest.raises(OSError, match="broken.pdlc") as broken:
        pdl.load(tmp_path / "broken.pdlc")
    assert isinstance(broken.value, pdl.FileError)
    for name in ("d.npz", "model", "model.txt"):
        with pytest.raises(pdl.FileError, match=f"{name}' is not a network: the name must end in .pdl"):
            pdl.load(tmp_path / name)


@pytest.mark.parametrize("ending", ["pdl", "pdlc", "onnx"])
def test_loaded_from_bytes(tmp_path: pathlib.Path, ending: str) -> None:
    net = pdl.compile(TEXT)
    path = tmp_path / f"model.{ending}"
    net.save(path)
    data = path.read_bytes()
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    for given in (data, bytearray(data), memoryview(data)):
        again = pdl.load_bytes(given, name=path.name, folder=tmp_path)
        np.testing.assert_allclose(again(x=x)["y"], net(x=x)["y"], rtol=1e-6)
    if ending != "pdl":
        with pytest.raises(pdl.FileError, match=f"model.{ending}"):
            pdl.load_bytes(data[:40], name=path.name, folder=tmp_path)


def test_bytes_that_are_no_model() -> None:
    with pytest.raises(pdl.FileError, match="'m' is not a network: the name must end in .pdl, .pdlc or .onnx"):
        pdl.load_bytes(b"output y = 1.0", name="m")
    with pytest.raises(TypeError, match="expected bytes, got str: use pdl.compile to compile source"):
        pdl.load_bytes("output y = 1.0", name="m.pdl")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pdl.load_bytes(3, name="m.pdl")  # type: ignore[arg-type]
    with pytest.raises(pdl.Error) as caught:
        pdl.load_bytes(b"output y = sofmax(1.0)", name="m.pdl")
    assert "m.pdl:1:12: error: no operator or layer is called 'sofmax'" in str(caught.value)
    with pytest.raises(pdl.FileError):
        pdl.load_bytes(b"", name="m.pdlc")


def test_a_file_with_imports_and_weights(root: pathlib.Path) -> None:
    digits = root / "examples" / "digits"
    net = pdl.load(digits / "digits.pdl")
    digit = net(image=np.load(digits / "images.npy"))["digit"]
    assert (digit.numpy() == np.load(digits / "labels.npy")).mean() > 0.95


def test_settings_of_an_onnx_model(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx")
    make, types = onnx.helper, onnx.TensorProto
    graph = make.make_graph(
        [make.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)],
        "sums",
        [
            make.make_tensor_value_info("x", types.FLOAT, ["N", 3]),
            make.make_tensor_value_info("axes", types.INT64, [1]),
        ],
        [make.make_tensor_value_info("y", types.FLOAT, None)],
    )
    path = tmp_path / "sums.onnx"
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 13)]), path)
    np.save(tmp_path / "axes.npy", np.array([-1]))
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    for axes in ([-1], np.array([1]), str(tmp_path / "axes.npy"), tmp_path / "axes.npy"):
        net = pdl.load(path, settings={"axes": axes})
        assert net.inputs == {"x": "f32[N, 3]"} and net(x=x)["y"].tolist() == [6, 15]
    assert pdl.load(path, settings={"axes": [0], "N": 2}).inputs == {"x": "f32[2, 3]"}
    for settings, message in [
        ({}, r"'axes' must be known at import: .* settings\['axes'\]=\.\.\."),
        ({"axes": 1.5}, r"^settings\['axes'\]: 1.5 does not fit i64"),
        ({"axes": "none"}, r"^settings\['axes'\]: expected a literal .*, got 'none'"),
        ({"axis": [0]}, "has no input 'axis' to set"),
    ]:
        with pytest.raises(pdl.Error, match=message):
            pdl.load(path, settings=settings)


def test_an_onnx_model(pdl_tool: str, tmp_path: pathlib.Path) -> None:
    net = pdl.compile(TEXT)
    net.save(tmp_path / "model.pdl")
    command = [pdl_tool, "export", tmp_path / "model.pdl", "-o", tmp_path / "model.onnx"]
    subprocess.run(command, check=True, capture_output=True)
    model = pdl.load(tmp_path / "model.onnx")
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    results = model(dict(zip(model.inputs, [x])))
    np.testing.assert_allclose(list(results.values())[0], net(x=x)["y"], rtol=1e-5)
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(pdl.FileError, match="broken.onnx"):
        pdl.load(tmp_path / "broken.onnx")


def test_flat_text_makes_the_same_network() -> None:
    net = pdl.compile(TEXT)
    again = pdl.compile(net.text())
    assert again.text() == net.text()
    np.testing.assert_array_equal(again(x=ones(2, 3))["y"], net(x=ones(2, 3))["y"])


def test_states_are_kept() -> None:
    net = pdl.compile(COUNTER)
    assert [net(x=2.0)["sum"].item() for _ in range(3)] == [2, 4, 6]
    other = net.session()
    assert other(x=1.0)["sum"].item() == 1 and net(x=0.0)["sum"].item() == 6
    assert net.states["total"].item() == 6
    net.set_state("total", np.float32(10))
    assert net(x=1.0)["sum"].item() == 11
    net.reset()
    assert net(x=1.0)["sum"].item() == 1
    with pytest.raises(pdl.UnknownNameError, match="no state 'x'"):
        net.set_state("x", np.float32(1))


def test_states_are_there_before_the_first_run() -> None:
    net = pdl.compile(COUNTER)
    assert net.states["total"].item() == 0 and net.session().states["total"].item() == 0
    of_rows = pdl.compile("input x: f32[N]\nstate s: f32[N] = zeros()\nupdate s = s + x\noutput s")
    assert dict(of_rows.states) == {}  # the data decide its size
    of_rows(x=[1.0, 2.0])
    assert of_rows.states["s"].tolist() == [1, 2]


@pytest.mark.parametrize("kind,name", [("parameter", "w"), ("state", "s")])
def test_values_are_set(kind: str, name: str) -> None:
    net = pdl.compile(PAIR)
    give = getattr(net, f"set_{kind}")
    for value in (ones(2) * 3, [3, 3.0], pdl.tensor(ones(2) * 3)):
        give(name, value)
        assert getattr(net, f"{kind}s")[name].tolist() == [3, 3]
    for value, error, message in [
        (ones(3), pdl.WeightError, rf"^{kind} '{name}' is declared f32\[2\], got f32\[3\] \[PDL0404\]$"),
        (np.ones(2), pdl.WeightError, r'got f64\[2\]; pdl.tensor\(array, dtype="f32"\) converts it'),
        (ones(), pdl.WeightError, r"got f32\[\]"),
        (None, TypeError, f"{kind} '{name}': expected an array, a number or nested lists .* not NoneType"),
        (["a", "b"], TypeError, "not a list with str"),
        ([[1], [2, 3]], ValueError, "the nested lists have different lengths"),
    ]:
        with pytest.raises(error, match=message):
            give(name, value)
    with pytest.raises(pdl.UnknownNameError, match=f"no {kind} '{name}x'; did you mean '{name}'"):
        give(f"{name}x", 1.0)
    assert getattr(net, f"{kind}s")[name].tolist() == [3, 3]
    with pytest.raises(TypeError, match=rf"read-only: use net.set_{kind}\('{name}', …\)"):
        getattr(net, f"{kind}s")[name] = ones(2)
    with pytest.raises(ValueError):
        getattr(net, f"{kind}s")[name].numpy()[:] = 0


def test_a_parameter_is_set_and_states_stay() -> None:
    net = pdl.compile(PAIR)
    assert net(x=[0.0])["y"].tolist() == [0, 0] and net.states["s"].tolist() == [2, 2]
    session = net.session()
    net.set_parameter("w", [1.0, 10.0])
    net.set_parameter("k", [0, 4])
    assert net(x=[0.0])["y"].tolist() == [4, 40] and net.states["s"].tolist() == [4, 4]
    assert session(x=[0.0])["y"].tolist() == [0, 0]
    net.reset()
    assert net(x=[0.0])["y"].tolist() == [2, 20]
    with pytest.raises(pdl.WeightError, match="declared i64.2. in 0..5, but an element is outside"):
        net.set_parameter("k", [0, 5])


@pytest.mark.parametrize("ending", ["pdl", "pdlc"])
def test_states_that_changed_are_saved(tmp_path: pathlib.Path, ending: str) -> None:
    path = tmp_path / f"net.{ending}"
    net = pdl.compile(COUNTER)
    net.save(path)
    assert not (tmp_path / "net.safetensors").exists()  # it begins with zeros
    net(x=2.0)
    net.save(path)
    again = pdl.load(path)
    assert again.states["total"].item() == 2 and again(x=1.0)["sum"].item() == 3
    again.reset()
    again.save(path)  # still has the given value
    assert pdl.load(path).states["total"].item() == 2
    net.set_state("total", 7.0)
    net.save(path)
    assert pdl.load(path)(x=1.0)["sum"].item() == 8
    of_rows = pdl.compile("input x: f32[N]\nstate s: f32[N] = zeros()\nupdate s = s + x\noutput s")
    of_rows(x=[1.0, 2.0])
    of_rows.save(path)
    assert pdl.load(path)(x=[1.0])["s"].tolist() == [1]


def test_a_run_that_fails_changes_no_state() -> None:
    net = pdl.compile(COUNTER)
    net(x=2.0)
    with pytest.raises(pdl.RunError):
        net(x=[1.0, 2.0])
    assert net(x=1.0)["sum"].item() == 3


def test_random_networks_draw_anew() -> None:
    text = "input x: f32[N]\noutput y = dropout(x, p=0.5)"
    net, same = pdl.compile(text), pdl.compile(text)
    x = ones(1000)
    first, second = (net.run({"x": x}, training=True)["y"].numpy() for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(same.run({"x": x}, training=True)["y"], first)
    np.testing.assert_array_equal(net(x=x)["y"], x)


def test_assertions_of_values() -> None:
    text = """
input x: f32[N]
input i: i64[]
assert x > 0, "x must be positive"
output y = log(x), z = gather(x, i)
"""
    net = pdl.compile(text)
    for checked in (net, copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert checked(x=[1.0], i=0)["y"].tolist() == [0]
        with pytest.raises(pdl.RunError, match=r"assert_true: x must be positive at \[1\]") as caught:
            checked(x=[1.0, -1.0], i=0)
        assert caught.value.code == "PDL0517"
    assert np.isnan(net(x=[1.0], i=1)["z"])
    with pytest.raises(pdl.RunError, match=r"gather: index 1 is outside axis 0 of f32\[1\]"):
        net.run({"x": [1.0], "i": 1}, check_indices=True)


def test_check_finite() -> None:
    net = pdl.compile("input x: f32[N]\noutput y = log(x)")
    with pytest.raises(pdl.RunError, match="PDL05"):
        net.run({"x": np.zeros(1, np.float32)}, check_finite=True)
    assert net(x=[0.0])["y"].item() == -np.inf


def test_ragged_inputs_are_their_parts() -> None:
    net = pdl.compile('input x: f32[N, ~T]\noutput y = sequence_pool(x, kind="sum")')
    parts = {"x": np.arange(3, dtype=np.float32), "x.offsets": np.array([0, 2, 2, 3])}
    assert net(parts)["y"].tolist() == [1, 0, 2]


def test_no_such_device() -> None:
    with pytest.raises(pdl.Error):
        pdl.compile(TEXT, device="tpu")


@pytest.mark.parametrize(
    "text",
    [
        "input x: f32[N]\nparam w: f32[2] = relu()\noutput x",
        "input x: f32[N]\nupdate x = x\noutput x",
        "input x: f32[N]\nminimize x with sgd()\noutput x",
        "input x: f32[N]\nreturn x",
    ],
)
def test_only_what_is_about_files_is_a_file_error(text: str) -> None:
    with pytest.raises(pdl.StatementError, match="PDL04") as caught:
        pdl.compile(text)
    assert not isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    "call,error,message",
    [
        (lambda net: net.run({}, outputs=3), TypeError, "outputs must be the name of an output, .* not 3"),
        (lambda net: net.run({}, outputs=[3]), TypeError, "or a list of names, not list"),
        (lambda net: net.run({}, training="yes"), TypeError, "training must be True or False, not 'yes'"),
        (lambda net: net.run({}, check_finite=1), TypeError, "check_finite must be True or False, not 1"),
        (lambda net: net.run(3), TypeError, "takes its inputs by name"),
        (lambda net: net.run({}, output="y"), TypeError, "unexpected keyword argument 'output'"),
        (lambda net: pdl.compile(TEXT, device=0), TypeError, "device must be a string, not 0"),
        (lambda net: pdl.compile(TEXT, threads="all"), TypeError, "threads must be an integer, not 'all'"),
        (lambda net: pdl.compile(TEXT, threads=-1), ValueError, "threads must be the number of threads, .* -1"),
        (lambda net: pdl.compile(TEXT, seed=-1), ValueError, "seed must be an integer from 0 to"),
        (lambda net: pdl.compile(TEXT, seed=1.5), TypeError, "seed must be an integer, not 1.5"),
    ],
)
def test_arguments_that_do_not_fit(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(pdl.compile(TEXT))


def test_one_output_by_its_name() -> None:
    assert list(pdl.compile(TEXT).run({"x": ones(1, 3)}, outputs="total")) == ["total"]


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"width": 0}, r"^settings\['width'\]:1:7: error: attribute 'width' of '<text>' must be larger"),
        ({"width": [1]}, r"^settings\['width'\]:1:7: error: .* must be an int"),
        ({"widht": 1}, r"^error: settings\['widht'\]: the network has no attr 'widht'; did you mean"),
        ({}, r"^<text>:2:6: error: attr 'height' has no value: give it one with settings\['height'\]"),
    ],
)
def test_settings_are_called_as_python_does(settings: dict[str, Any], message: str) -> None:
    text = TEXT if settings else "\nattr height: int\n" + TEXT
    with pytest.raises(pdl.Error, match=message) as caught:
        pdl.compile(text, settings=settings)
    assert "--set" not in str(caught.value)


def test_unused_names_are_warnings() -> None:
    net = pdl.compile("input x: f32[N]\nh = x + 1\noutput x\n")
    assert "<text>:2:1: warning: the value 'h' is not used [PDL0107]" in net.warnings
    assert pdl.compile("input x: f32[N]\n_h = x + 1\noutput x\n").warnings == ""


def test_graphs_have_no_warnings_of_unused_values() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        pdl.ops.relu(x)
        pdl.output(x + 1, "y")
    assert g.compile().warnings == ""


def test_an_input_is_given_once() -> None:
    net = pdl.compile("input x: f32[N]\noutput y = x")
    with pytest.raises(TypeError, match="input 'x' is given twice"):
        net({"x": ones(1)}, x=ones(1))


def test_plans_of_sizes() -> None:
    net = pdl.compile("input x: f32[N]\noutput y = x * x")
    assert "4 bytes" in net.plan(N=np.int64(1)) or "plan for cpu" in net.plan(N=1)
    with pytest.raises(TypeError, match="N must be an integer, not 1.5"):
        net.plan(N=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the size N must not be negative, got -3"):
        net.plan(N=-3)
    with pytest.raises(ValueError, match="the size N must be less than 2\\*\\*63, got 9223372036854775808"):
        net.plan(N=2**63)


def test_saved_as_an_onnx_model(tmp_path: pathlib.Path) -> None:
    net = pdl.compile(
        "input x: f32[N, 3]\nstate s: f32[] = zeros()\nparam w: f32[3, 2] = normal()\noutput y = x @ w + s"
    )
    net.set_state("s", 5.0)
    net.set_parameter("w", ones(3, 2))
    path = tmp_path / "net.onnx"
    net.save(path)
    again = pdl.load(path)
    assert list(again.inputs) == ["x"] and again(x=ones(1, 3))["y"].tolist() == [[8, 8]]
    ragged = pdl.compile("input x: f32[N, ~T]\noutput y = x")
    with pytest.raises(pdl.Error, match="ONNX supports only dense tensors"):
        ragged.save(tmp_path / "ragged.onnx")
    assert not (tmp_path / "ragged.onnx").exists()


def test_precision_of_runs() -> None:
    """With bf16, weights are rounded, and results are f32; a copy of the network keeps the precision."""
    text = "input x: f32[1, 1024]\nparam w: f32[1024, 1024] = fill(value=1.001)\noutput y = matmul(x, w)\n"
    x = np.ones((1, 1024), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a processor without AVX2
        net = pdl.compile(text, precision="bf16")
        again = pickle.loads(pickle.dumps(net))
    assert net.precision == again.precision == net.session().precision == "bf16"
    assert pdl.compile(text).precision == "f32"
    y = net(x=x)["y"].numpy()
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, 1024, rtol=2e-3)
    np.testing.assert_array_equal(again(x=x)["y"].numpy(), y)
    with pytest.raises(ValueError, match="precision must be f32, bf16 or f16, got f8"):
        pdl.compile(text, precision="f8")
