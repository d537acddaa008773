"""Networks as parts of a graph."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import pdl

TEXT = """
attr width: int > 0 = 2
input x: f32[N, 3]
param w: f32[3, width] = normal(std=1.0)
y = cos(x @ w, scale=5.0)
loss = mean(y)
output y
output total = sum(y, axes=[0])
minimize loss with sgd(lr=0.1)
"""
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def test_a_network_is_called_in_a_graph() -> None:
    net = pdl.compile(TEXT, settings={"width": 5}, seed=3)
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[M, 3]")
        results = net(x=x * 2.0)
        assert {name: value.type for name, value in results.items()} == {
            "y": "f32[M, 5]",
            "total": "f32[5]",
        }
        pdl.output(results["y"] + 1.0, "out")
        pdl.output(net({"x": x})["total"], "again")
    made = g.compile()
    assert list(made.parameters) == ["net.w"]  # of both calls, with the values of `net`
    results = made(x=X)
    np.testing.assert_array_equal(results["out"], net(x=2 * X)["y"].numpy() + 1)
    np.testing.assert_array_equal(results["again"], net(x=X)["total"])
    assert 'import "net.pdl" as net_file\nlayer net = net_file()\n' in g.text()
    other = g.compile(weights={"net.w": np.zeros((3, 5), np.float32)})
    assert other(x=X)["out"].tolist() == [[6.0] * 5] * 4


def test_two_networks_and_their_names(tmp_path: pathlib.Path) -> None:
    pdl.compile(TEXT).save(tmp_path / "cos.pdlc")
    (tmp_path / "first part.pdl").write_text(TEXT)
    nets = [pdl.load(tmp_path / "cos.pdlc"), pdl.load(tmp_path / "first part.pdl", seed=1)]
    nets.append(pdl.compile(TEXT, name="first_part.pdl", seed=2))
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]")
        for i, net in enumerate(nets):
            pdl.output(net(x=x)["y"], f"y{i}")
        pdl.output(pdl.ops.cos(x), "still_the_operator")
    made = g.compile()
    assert list(made.parameters) == ["cos_net.w", "first_part.w", "first_part_2.w"]
    for i, net in enumerate(nets):
        np.testing.assert_array_equal(made(x=X)[f"y{i}"], net(x=X)["y"])
    made.save(tmp_path / "whole.pdl")
    again = pdl.load(tmp_path / "whole.pdl")
    np.testing.assert_array_equal(again(x=X)["y1"], nets[1](x=X)["y"])
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again(x=X)["y2"], nets[2](x=X)["y"])


def test_what_it_has_learned_and_its_states_come_with_it() -> None:
    net = pdl.compile(
        "input x: f32[]\nparam a: f32[] = zeros()\nstate s: f32[] = ones()\nupdate s = s + x\n"
        "loss = (a - 1.0) ** 2\noutput y = s * a"
    )
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[]")
        pdl.output(net(x=x)["y"], "y")
    net(x=1.0)
    list(pdl.train(net, [{"x": np.float32(0)}], pdl.layers.sgd(lr=0.25)))
    a, s = net.parameters["a"].item(), net.states["s"].item()
    assert a == 0.5 and s > 1
    made = g.compile()
    assert made.parameters["net.a"].item() == a and made(x=2.0)["y"].item() == a * (s + 2)
    assert net.states["s"].item() == s  # which are copies


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_head_is_trained_on_a_network(is_compiled: bool) -> None:
    net = pdl.compile(TEXT, seed=3)
    w = net.parameters["w"].tolist()
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]")
        y = pdl.layers.fc(net(x=x)["y"], size=1, name="head")
        pdl.minimize(pdl.ops.mean(y * y, name="loss"), pdl.layers.sgd(lr=0.001), over="head")
        pdl.output(y, "y")
    training = pdl.train(g.compile() if is_compiled else g, [{"x": X}] * 3)
    losses = [step.loss for step in training]
    assert losses[0] > losses[1] > losses[2]
    learned = training.network()
    assert learned.parameters["net.w"].tolist() == w == net.parameters["w"].tolist()
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]")
        pdl.minimize(pdl.ops.mean(net(x=x)["y"], name="loss"), pdl.layers.sgd(lr=0.1))
    training = pdl.train(g.compile() if is_compiled else g, [{"x": X}])
    list(training)
    assert training.network().parameters["net.w"].tolist() != w == net.parameters["w"].tolist()


def test_the_gradient_of_a_network() -> None:
    net = pdl.compile(TEXT, seed=3)
    slope = pdl.grad(lambda x: pdl.ops.sum(net(x=x)["y"]))
    for _ in range(2):
        w = net.parameters["w"].numpy()
        np.testing.assert_allclose(slope(X), -5 * np.sin(X @ w) @ w.T, rtol=1e-4, atol=1e-5)
        net.set_parameter("w", np.ones((3, 2), np.float32))


def test_an_array_beside_a_value() -> None:
    net = pdl.compile("input x: f32[N]\ninput b: f32[2]\ninput s: f32[]\noutput y = x * s + sum(b)")
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        pdl.output(net(x=x, b=np.float32([1, 2]), s=2)["y"], "y")
    assert g.compile()(x=[1.0])["y"].tolist() == [5.0]
    slope = pdl.grad(lambda x: pdl.ops.sum(net(x=x, b=np.float32([1, 2]), s=3.0)["y"]))
    assert slope(np.ones(2, np.float32)).tolist() == [3.0, 3.0]


def test_ragged_values() -> None:
    net = pdl.compile('input x: f32[N, ~T]\noutput y = sequence_pool(x, kind="sum")\noutput z = x * 2.0')
    with pdl.Graph() as g:
        words = pdl.input("words", "f32[M, ~L]")
        results = net(x=words)
        assert results["z"].type == "f32[M, ~L]"
        pdl.output(results["y"], "y")
    assert g.compile()(words=[[1.0, 2.0], [3.0]])["y"].tolist() == [3, 3]


def test_inputs_that_an_output_does_not_need() -> None:
    net = pdl.compile(
        "input x: f32[N]\n## What is wanted.\ninput t: f32[N]\nparam a: f32[] = ones()\ny = x * a\n"
        "loss = mean((y - t) ** 2)\noutput y\noutput loss\nminimize loss with sgd(lr=0.1)"
    )
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        assert list(net(x=x)) == ["y"]
        pdl.output(net(x=x * 2.0)["y"], "y")
        with pytest.raises(pdl.Error, match="'net' was called with a different set of inputs in this graph"):
            net(x=x, t=x)
        with pytest.raises(pdl.RunError, match=r"no value for input 't': f32\[N\] \[PDL0501\]"):
            pdl.compile(
                "input x: f32[N]\ninput t: f32[N]\nstate s: f32[N] = zeros()\nupdate s = t\noutput x"
            )(x=x)
    assert g.compile()(x=[1.0])["y"].tolist() == [2.0]


def test_mistakes() -> None:
    net = pdl.compile(TEXT)
    with pdl.Graph() as g:
        x, wrong = pdl.input("x", "f32[N, 3]"), pdl.input("wrong", "f32[N, 4]")
        text = g.text()
        calls: list[tuple[Any, type[Exception], str]] = [
            (lambda: net(image=x), pdl.RunError, r"the network has no input 'image' \[PDL0502\]"),
            (lambda: net(x=wrong), pdl.ShapeError, "f32.N, 4."),
            (lambda: net(x), TypeError, "takes its inputs by name"),
        ]
        for call, kind, message in calls:
            with pytest.raises(kind, match=message):
                call()
        other = pdl.compile("input a: f32[N]\ninput b: f32[N]\noutput y = a + b")
        with pytest.raises(pdl.RunError, match=r"no value for input 'b': f32\[N\] \[PDL0501\]"):
            other(a=x)
        with pdl.Graph():
            foreign = pdl.input("foreign", "f32[N]")
        with pytest.raises(pdl.Error, match="'foreign' belongs to another graph"):
            other(a=x, b=foreign)
        assert g.text().startswith(text)
    # The graph's source does not contain the network.
    with pytest.raises(pdl.UnknownNameError, match="cannot read 'net.pdl'"):
        pdl.compile(g.text())
