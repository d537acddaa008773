"""Layers of the user's own as Python functions."""

from __future__ import annotations

import inspect
import pathlib
import pydoc
from typing import Any

import numpy as np
import pytest

import pdl

TWICE = """
## Multiplies by a factor. The rest of the text.
layer twice(
  x: F[...],            ## any tensor
  k: float > 0 = 2.0,   ## the factor
  mode: string in ["mul", "add"] = "mul"
) {
  return x * k
}
"""
BLOCK = """
import "parts/parts.pdl"
## A block with parameters.
layer block(x: F[N, D], width: int > 0, act: function = relu()) {
  hidden = x |> fc(size=width) |> act()
  return y=scaled(fc(hidden, size=D)), hidden
}
layer other(x: F[...]) { return scaled(x) }
"""
PARTS = """
import "more.pdl" as more
layer scaled(x: F[...]) { return more.halved(x) * 6.0 }
"""
MORE = "layer halved(x: F[...]) { return x / 2.0 }\n"
X = np.float32([[1, 2, 3], [4, 5, 6]])


@pytest.fixture
def own(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file with layers, which imports others."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "parts.pdl").write_text(PARTS)
    (tmp_path / "parts" / "more.pdl").write_text(MORE)
    (tmp_path / "own.pdl").write_text(BLOCK)
    return tmp_path / "own.pdl"


def test_signature_and_help() -> None:
    twice = pdl.layer(TWICE)
    assert twice.__name__ == "twice"
    assert str(inspect.signature(twice)) == "(x, *, k=2.0, mode='mul', name=None)"
    assert (twice.__doc__ or "").startswith("Multiplies by a factor.\n\nThe rest of the text.\n")
    page = pydoc.render_doc(twice, renderer=pydoc.plaintext)
    assert "twice(x, *, k=2.0, mode='mul', name=None)" in page
    assert "k : float > 0, default 2.0\n        the factor" in page
    assert "x : F[...]; up to 2 ragged dims\n        any tensor" in page


def test_on_arrays() -> None:
    twice = pdl.layer(TWICE)
    assert twice(X).tolist() == (2 * X).tolist()
    assert twice(x=X, k=0.5).tolist() == (X / 2).tolist()
    assert twice(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert twice(pdl.ragged([[1.0], []], dtype=np.float32)).tolist() == [[2.0], []]
    derivative = pdl.grad(lambda x: pdl.ops.sum(twice(x, k=3.0) ** 2))
    assert derivative(np.float32([1, 2])).tolist() == [18, 36]


def test_in_a_graph(own: pathlib.Path) -> None:
    layers = pdl.layers_from(own)
    twice = pdl.layer(TWICE)
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]")
        y, hidden = layers.block(twice(x), width=4, act=twice(k=0.5), name="first")
        assert (y.type, hidden.type) == ("f32[N, 3]", "f32[N, 4]")
        again = layers.block(y, width=4, act=twice).y
        pdl.output(layers.other(again, name="end"), "y")
        pdl.output(hidden, "hidden")
    assert 'import "twice_layers/twice.pdl" as twice_layers\n' in g.text()
    assert 'import "own_layers/own.pdl" as own_layers\n' in g.text()
    assert "act=twice_layers.twice(k=0.5)" in g.text()
    assert set(g.files) == {
        "twice_layers/twice.pdl",
        "own_layers/own.pdl",
        "own_layers/parts/parts.pdl",
        "own_layers/parts/more.pdl",
    }
    net = g.compile(seed=3)
    names = [name for name in net.parameters if name.startswith("first_y.")]
    assert len(net.parameters) == 8 and len(names) == 4
    w, b = (net.parameters[name].numpy() for name in names[:2])
    np.testing.assert_allclose(net(x=X)["hidden"], 2 * X @ w * 0.5 + b, rtol=1e-5)


def test_training_a_graph_with_own_layers_and_an_own_optimizer() -> None:
    sgd = pdl.layer(
        "layer plain_sgd(w: F[...], g: F[...], rate: F[] = 0.1) { return w - rate * g }\n"
    )
    loss_of = pdl.layer("layer distance(x: F[...], y: F[...]) { return mean((x - y) ** 2.0) }")
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        w = pdl.param("w", "f32[]")
        pdl.output(loss_of(x * w, 3.0 * x), "loss")
    data = [{"x": np.float32([1, 2])}] * 40
    for optimizer in (sgd(rate=0.1, clip_norm=100.0), sgd):
        training = pdl.train(g, data, optimizer)
        list(training)
        assert abs(training.network().parameters["w"].item() - 3) < 1e-3
    with g:
        value = Any
        value = pdl.ops.mean((w - 1.0) ** 2, name="off")
        pdl.minimize(value, sgd(rate=0.1))
    assert "minimize off with plain_sgd_layers" in g.text()


def test_layers_of_a_file(own: pathlib.Path) -> None:
    layers = pdl.layers_from(str(own))
    assert dir(layers) == ["block", "other"] and list(layers) == ["block", "other"]
    assert repr(layers) == f"<pdl layers of {own}: block, other>"
    assert layers.other(X).tolist() == (3 * X).tolist()
    assert layers.block.__module__ == "own"
    with pytest.raises(AttributeError, match="has no layer 'blok'; did you mean 'block'?"):
        layers.blok
    with pytest.raises(pdl.ArgumentError, match="has parameters of its own and can only be called in a pdl.Graph"):
        layers.block(X, width=2)


def test_several_layers_in_one_source() -> None:
    text = "layer a(x: F[...]) { return x + 1.0 }\nlayer b(x: F[...]) { return a(x) * 2.0 }\n"
    assert pdl.layer(text)(X).tolist() == ((X + 1) * 2).tolist()
    assert pdl.layer(text, "a")(X).tolist() == (X + 1).tolist()
    assert pdl.layer(text, name="a").__name__ == "a"


def test_layers_of_one_name_do_not_mix() -> None:
    """As when a cell of a notebook runs again after a change."""
    first = pdl.layer("layer f(x: F[...]) { return x + 1.0 }")
    second = pdl.layer("layer f(x: F[...]) { return x + 2.0 }")
    same = pdl.layer("layer f(x: F[...]) { return x + 1.0 }")
    assert [one(X[0]).tolist() for one in (first, second, same)] == [[2, 3, 4], [3, 4, 5], [2, 3, 4]]
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        pdl.output(first(x), "a")
        pdl.output(second(x), "b")
        pdl.output(same(x), "c")
    results = g.compile()(x=X[0])
    assert [results[name].tolist() for name in "abc"] == [[2, 3, 4], [3, 4, 5], [2, 3, 4]]
    assert g.text().count("import") == 2


def test_a_failed_call_imports_nothing() -> None:
    twice = pdl.layer(TWICE)
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        with pytest.raises(pdl.AttributeValueError, match="attribute 'k' of 'twice_layers.twice' must be larger than 0, got -1.0"):
            twice(x, k=-1.0)
        assert "import" not in g.text() and not g.files
        pdl.input("twice_layers", "f32[N]")
        with pytest.raises(ValueError, match="this graph already has a value 'twice_layers'"):
            twice(x)


@pytest.mark.parametrize(
    "make,kind,message",
    [
        (lambda: pdl.layer("x = 1.0"), pdl.UnknownNameError, 'the source has no layer: expected "layer NAME'),
        (lambda: pdl.layer(TWICE, "twise"), pdl.UnknownNameError, "the source has no layer 'twise'; did you mean 'twice'?"),
        (lambda: pdl.layer("layer f(x: F[...]) { return x +"), pdl.SyntaxMistake, "<layer>:1:"),
        (lambda: pdl.layer("layer f(x: F[...]) { return kosine(x) }"), pdl.UnknownNameError, "<layer>:1:29: error: no operator or layer is called 'kosine'"),
        (lambda: pdl.layer('import "none.pdl"\nlayer f(x: F[...]) { return x }'), pdl.Error, "none.pdl"),
        (lambda: pdl.layer(3), TypeError, "the source must be a string, not 3"),  # type: ignore[arg-type]
        (lambda: pdl.layers_from("/none/own.pdl"), pdl.MissingFileError, "/none/own.pdl"),
    ],
)  # fmt: skip
def test_what_is_no_layer(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert message in str(caught.value)


def test_files_without_layers(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "net.pdl"
    path.write_text("input x: f32[N]\noutput y = x * 2.0\n")
    with pytest.raises(pdl.UnknownNameError, match="has no layers: pdl.load reads networks"):
        pdl.layers_from(path)
    pdl.load(path).save(tmp_path / "net.pdlc")
    with pytest.raises(pdl.FileError, match="is a compiled network, but pdl source is required"):
        pdl.layers_from(tmp_path / "net.pdlc")


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda f: f(input=X, factor=2.0), "'twice_layers.twice' has no attribute or input 'input'; it takes x, k, mode, training, recompute and params"),
        (lambda f: f(kk=2.0), "has no attribute or input 'kk'; did you mean 'k'?"),
        (lambda f: f(X, kk=2.0), "has no attribute or input 'kk'; did you mean 'k'?"),
        (lambda f: f(k=2.0, clip_norm=1.0), "has no attribute or input 'clip_norm'"),
    ],
)  # fmt: skip
def test_misnamed_arguments(make: Any, message: str) -> None:
    with pytest.raises(pdl.ArgumentError) as caught:
        make(pdl.layer(TWICE))
    assert message in str(caught.value)
