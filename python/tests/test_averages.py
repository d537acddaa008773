"""Moving averages of parameters in training."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import pdl

LINE = """
input x: f32[N]
input target: f32[N]
param a: f32[] = zeros()
loss = mean((a * x - target) ** 2)
output loss
minimize loss with sgd(lr=0.1)
"""
ONES = np.ones(4, np.float32)
BATCH: dict[str, Any] = {"x": ONES, "target": 2 * ONES}


def expected(steps: int, decay: float) -> tuple[float, float]:
    """The parameter and its average after some steps."""
    a = average = 0.0
    for _ in range(steps):
        a -= 0.1 * 2 * (a - 2)
        average += (1 - decay) * (a - average)
    return a, average


def test_the_network_has_the_averages() -> None:
    net = pdl.compile(LINE)
    training = pdl.train(net, [BATCH] * 5, validate=[BATCH], average=0.5)
    (epoch,) = training.epochs()
    a, average = expected(5, 0.5)
    assert net.parameters["a"].item() == pytest.approx(average, rel=1e-6)
    assert training.network(best=True).parameters["a"].item() == pytest.approx(average, rel=1e-6)
    # The losses of the steps are those of the parameters, and the validation's those of the averages.
    assert epoch.validation["loss"] == pytest.approx((average - 2) ** 2, rel=1e-5)
    plain = pdl.compile(LINE)
    for step, other in zip(pdl.train(LINE, [BATCH] * 5, average=0.5), pdl.train(plain, [BATCH] * 5)):
        assert step.loss == other.loss
    assert plain.parameters["a"].item() == pytest.approx(a, rel=1e-6)


def test_a_checkpoint_goes_on_with_them(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "last.safetensors"
    first = pdl.train(LINE, [BATCH] * 3, average=0.9)
    list(first)
    first.save(path)
    second = pdl.train(LINE, [BATCH] * 4, weights=path, average=0.9)
    list(second)
    assert second.network().parameters["a"].item() == pytest.approx(expected(7, 0.9)[1], rel=1e-6)


def test_wrong_arguments() -> None:
    for decay in [1.0, -0.5, float("nan")]:
        with pytest.raises(pdl.Error, match="the decay of the averages must be at least 0"):
            pdl.train(LINE, [BATCH], average=decay)
    with pytest.raises(TypeError, match="average must be a number, not 'a'"):
        pdl.train(LINE, [BATCH], average="a")  # type: ignore[arg-type]
    updated = "input x: f32[N]\nstate s: f32[] = zeros()\nupdate s = s + sum(x)\noutput loss = s\n"
    with pytest.raises(pdl.Error, match="no parameters to average"):
        pdl.train(updated, [{"x": ONES}], average=0.5)
