"""Training with losses and parameters that are nan or infinite."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from test_train import BATCH, LINE

import pdl


def test_gradients_that_are_never_finite() -> None:
    text = """
input x: f32[N, 2]
param w: f32[2, 1] = zeros()
z = x @ w
loss = mean(sqrt(z * z))
minimize loss with sgd(lr=0.1)
"""
    batches = [{"x": np.ones((4, 2), np.float32)}] * 50
    with pytest.raises(pdl.Error, match="even with the smallest loss scale"):
        list(pdl.train(text, batches, precision="f16"))
    # Looked at, the call is named as soon as the scale cannot be what does it.
    with pytest.raises(pdl.RunError, match=r"<training>:5:13: error: div: gives inf at \[0, 0\]"):
        for step in (checked := pdl.train(text, batches, precision="f16", check_finite=True)):
            done = step.step
    assert done == 40
    assert checked.network().parameters["w"].tolist() == [[0.0], [0.0]]


def test_a_step_with_a_loss_that_is_not_finite_changes_nothing() -> None:
    wrong = {**BATCH, "x": np.full(4, np.nan, np.float32)}
    text = LINE + "state seen: f32[] = zeros()\nupdate seen = seen + 1.0\noutput count = seen\n"
    net = pdl.compile(text)
    inputs = {"x": [1.0]}
    assert net.run(inputs, outputs="count")["count"].item() == 1
    with pytest.raises(pdl.RunError, match="step 2: the loss 'loss' is nan"):
        for _ in pdl.train(net, [BATCH, wrong], pdl.layers.sgd(lr=0.1)):
            value = net.parameters["a"].item()
            assert value != 0 and net.states["seen"].item() == 2
    assert net.parameters["a"].item() == value and net.states["seen"].item() == 2


def test_a_loss_that_is_not_finite() -> None:
    """A step with such a loss changes nothing, also in parts, with moving averages and with check_finite."""
    wrong = {**BATCH, "x": np.full(4, np.nan, np.float32)}
    expected = {"average": 0.04}
    for name, options in (
        ("plain", {}),
        ("parts", {"micro_batch": 2}),
        ("average", {"average": 0.9}),
        ("check", {"check_finite": True}),
    ):
        net = pdl.compile(LINE)
        training = pdl.train(net, [BATCH, wrong], pdl.layers.sgd(lr=0.1), **options)
        why = r"step 2: input 'x': f32\[4\] holds nan at \[0\]" if name == "check" else "step 2: the loss 'loss' is nan"
        with pytest.raises(pdl.RunError, match=why):
            list(training)
        value = expected.get(name, 0.4)
        assert net.parameters["a"].item() == pytest.approx(value), name
        assert training.network().parameters["a"].item() == pytest.approx(value), name


def test_half_precision_skips_a_step_with_a_loss_that_is_not_finite() -> None:
    wrong = {**BATCH, "x": np.full(4, np.nan, np.float32)}
    net = pdl.compile(LINE)
    with pytest.raises(pdl.RunError, match="step 2: the loss 'loss' is nan"):
        list(pdl.train(net, [BATCH, wrong], pdl.layers.sgd(lr=0.1), precision="f16"))
    assert net.parameters["a"].item() == pytest.approx(0.4, rel=1e-2)


TOO_FAR = "input x: f32[N]\nparam w: f32[2] = ones()\nloss = sum(x) * sum(w)\nminimize loss with sgd(lr=3e38)\n"


def test_parameters_that_are_not_finite(tmp_path: pathlib.Path) -> None:
    """They are neither given to the network nor saved."""
    net = pdl.compile(TOO_FAR)
    training = pdl.train(net, [{"x": np.full(4, 100, np.float32)}])
    message = r"parameter 'w' holds -inf at \[0\] after step 1 \[PDL0514\]"
    with pytest.raises(pdl.RunError, match=message):
        list(training)
    assert net.parameters["w"].tolist() == [1, 1]
    with pytest.raises(pdl.RunError, match=message):
        training.network()
    with pytest.raises(pdl.RunError, match=message):
        training.save(tmp_path / "w.safetensors")
    assert not (tmp_path / "w.safetensors").exists()
    # Infinities that were there at the start may stay.
    net.set_parameter("w", np.array([np.inf, 1], np.float32))
    with pytest.raises(pdl.RunError, match="step 1: the loss 'loss' is inf"):
        list(pdl.train(net, [{"x": np.ones(4, np.float32)}]))
    assert net.parameters["w"].tolist() == [np.inf, 1]
