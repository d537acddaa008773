"""Positions in the source of errors of the compiler and of runs."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pytest
from conftest import LAYERED

import pdl


def test_mistakes_of_a_text_come_together() -> None:
    with pytest.raises(pdl.Error) as caught:
        pdl.compile("input x: f32[N, 3]\na = sofmax(x)\nb = cos(x, scale=-1.0)\n", name="model.pdl")
    assert [one.code for one in caught.value.mistakes] == ["PDL0101", "PDL0203"]
    assert str(caught.value).startswith(
        "model.pdl:2:5: error: no operator or layer is called 'sofmax'"
    )
    assert "model.pdl:3:18: error: attribute 'scale' of 'cos'" in str(caught.value)
    with pytest.raises(pdl.SyntaxMistake):
        pdl.compile("input x")


def test_the_place_of_a_mistake() -> None:
    with pytest.raises(pdl.Error) as caught:
        pdl.compile("input x: f32[N]\n\noutput y = cos(xx)\noutput z = cos(x, scale=-1.0)", name="net.pdl")
    places = [(one.code, one.file, one.line, one.column) for one in caught.value.mistakes]
    assert places == [("PDL0102", "net.pdl", 3, 16), ("PDL0203", "net.pdl", 4, 25)]
    with pytest.raises(ValueError, match="the source has a lone surrogate, character 2"):
        pdl.compile("# \ud800\noutput y = 1.0")


SHOWN = """{}:2:10: error: assert_true: x must be positive at [1] [PDL0517]
 2 |   assert x > 0.0, "x must be positive"
   |          ^
   = {}:8:13: in this call of 'own'
 8 | loss = mean(own(x) * a)
   |             ^~~"""


def test_the_line_of_an_error_of_a_run(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "net.pdl"
    path.write_text(LAYERED)
    x = np.array([1, -1], np.float32)
    loaded, compiled = pdl.load(path), pdl.compile(LAYERED)
    for net, name in (
        (loaded, str(path)),
        (compiled, "<text>"),
        (pdl.compile(LAYERED, name="own.pdl"), "own.pdl"),
        (pickle.loads(pickle.dumps(loaded)), str(path)),
    ):
        for run in (lambda: net(x=x), lambda: net.run({"x": x}), lambda: net.profile({"x": x})):
            with pytest.raises(pdl.RunError) as caught:
                run()
            assert str(caught.value) == SHOWN.format(name, name) and caught.value.code == "PDL0517"
            (one,) = caught.value.mistakes
            assert (one.file, one.line, one.column, one.code) == (name, 2, 10, "PDL0517")
            assert one.message == "assert_true: x must be positive at [1]"
            assert one.notes == ("in this call of 'own'",)
    with pytest.raises(pdl.RunError) as caught:
        list(pdl.train(compiled, [{"x": x}], pdl.layers.sgd(lr=0.1)))
    assert str(caught.value).startswith("step 1: <text>:2:10: error: assert_true: x must be positive at [1] [PDL0517]\n")
    assert [one.line for one in caught.value.mistakes] == [2]


def test_lines_of_generated_source_are_not_shown() -> None:
    x = np.array([1, -1], np.float32)
    positive = pdl.layer(LAYERED[: LAYERED.index("input")])
    with pdl.Graph() as g:
        pdl.output(pdl.ops.mean(positive(pdl.input("x", "f32[N]"))), "loss")
    graph = g.compile()
    with pdl.Graph() as g:
        pdl.output(pdl.compile(LAYERED, name="part.pdl")(x=pdl.input("x", "f32[N]"))["loss"], "y")
    sgd = pdl.layers.sgd(lr=0.1)
    with pdl.Graph() as t:
        value = positive(pdl.input("x", "f32[N]"))
        pdl.output(pdl.ops.mean(value * pdl.param("a", "f32[]"), name="loss"))
    for run in (
        lambda: positive(x),
        lambda: pdl.grad(lambda x: pdl.ops.sum(positive(x)))(x),
        lambda: graph(x=x),
        lambda: pickle.loads(pickle.dumps(graph))(x=x),
        lambda: g.compile()(x=x),
        lambda: list(pdl.train(t, [{"x": x}], sgd)),
        lambda: list(pdl.train(t.compile(), [{"x": x}], sgd)),
    ):
        for _ in range(2):
            with pytest.raises(pdl.RunError) as caught:
                run()
            message = str(caught.value).removeprefix("step 1: ")
            assert message == "assert_true: x must be positive at [1] [PDL0517]"
            assert [(one.file, one.line, one.notes) for one in caught.value.mistakes] == [("", 0, ())]
    with pytest.raises(pdl.ShapeError, match="^cholesky: 'x' is not positive definite \\[PDL0311\\]$"):
        pdl.ops.cholesky([[-1.0]])
