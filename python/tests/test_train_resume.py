"""Trainings that continue from a saved one."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
from test_train import BATCH, LINE

import pdl


def test_it_goes_on_with_the_scale_of_the_loss(tmp_path: pathlib.Path) -> None:
    text = """
input x: f32[N, 2]
param w: f32[2, 1] = normal()
loss = 1000.0 * mean((x @ w - 3.0) ** 2)
minimize loss with adam(lr=0.1)
"""
    random = np.random.default_rng(0)
    data = [{"x": random.normal(size=(4, 2)).astype(np.float32)} for _ in range(20)]
    whole = pdl.train(text, data, precision="f16")
    for step in whole:
        if step.step == 3:
            whole.save(tmp_path / "middle.safetensors")
    rest = pdl.train(text, data[3:], precision="f16", weights=tmp_path / "middle.safetensors")
    assert len(list(rest)) == 17
    np.testing.assert_array_equal(rest.network().parameters["w"], whole.network().parameters["w"])
    whole.save(tmp_path / "whole.safetensors")
    rest.save(tmp_path / "rest.safetensors")
    bytes_of = [(tmp_path / f"{name}.safetensors").read_bytes() for name in ("whole", "rest")]
    assert bytes_of[0] == bytes_of[1] and b"loss_scale" in bytes_of[0]


def test_a_checkpoint_of_another_training(tmp_path: pathlib.Path) -> None:
    """What is not continued is a warning; a training that continues gives none."""
    data, path = [BATCH], tmp_path / "c.safetensors"

    def warnings_of(first: dict[str, Any], then: dict[str, Any]) -> list[str]:
        training = pdl.train(LINE, data, **first)
        list(training)
        training.save(path)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            list(pdl.train(LINE, data, weights=path, **then))
        return [str(one.message) for one in found]

    adam, rmsprop = pdl.layers.adam(lr=0.01), pdl.layers.rmsprop(lr=0.01)
    for options in ({}, {"precision": "f16"}, {"micro_batch": 2}, {"average": 0.9}):
        assert warnings_of({"optimizer": adam, **options}, {"optimizer": adam, **options}) == []
    for first, then, name in (
        ({"optimizer": adam}, {"optimizer": rmsprop}, "it has no "),
        ({"optimizer": adam}, {"optimizer": adam, "precision": "f16"}, "it has no loss_scale"),
        ({"optimizer": adam, "precision": "f16"}, {"optimizer": adam}, "loss_scale, loss_scale.good of it are not used"),
        ({"optimizer": adam, "average": 0.9}, {"optimizer": adam}, "of it are not used"),
    ):
        (message,) = warnings_of(first, then)
        assert message.startswith("the weights are those of a training with another network, optimizer, precision or average: ") and name in message
    # Other uses of the file need only its parameters.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdl.compile(LINE, weights=path)


NOISY = (
    "input x: f32[N, 8]\ninput target: f32[N]\nparam w: f32[8] = zeros()\nparam fixed: f32[] = ones() "
    "with {trainable=false}\nloss = mean((dropout(x, p=0.5) @ w * fixed - target) ** 2)\n"
    "minimize loss with adam(lr=cosine(step, from=0.1, until=20))\n"
)


def test_saved_in_the_middle_and_gone_on_with(tmp_path: pathlib.Path) -> None:
    """The same bits as without an interruption: with random operators, and a learning-rate schedule."""
    random = np.random.default_rng(0)
    data = [
        {"x": random.normal(size=(4, 8)).astype(np.float32), "target": np.ones(4, np.float32)}
        for _ in range(10)
    ]
    whole = pdl.compile(NOISY)
    training = pdl.train(whole, data)
    for step in training:
        if step.step == 5:
            training.save(tmp_path / "middle.safetensors")
            with pytest.raises(pdl.FileError, match="'.*half.pdlc' must end in .safetensors: a training is saved"):
                training.save(tmp_path / "half.pdlc")
            training.network().save(tmp_path / "half.pdl")
    rest = pdl.compile(NOISY)
    steps = list(pdl.train(rest, data[5:], weights=tmp_path / "middle.safetensors"))
    assert [step.step for step in steps] == [6, 7, 8, 9, 10]
    np.testing.assert_array_equal(rest.parameters["w"], whole.parameters["w"])
    # The network itself has nothing of the training in it.
    text = (tmp_path / "half.pdl").read_text()
    assert "adam.m" not in text and "minimize loss" in text and "state" not in text
    whole.save(tmp_path / "whole.pdl")
    assert "adam.m" not in (tmp_path / "whole.pdl").read_text()
    again = pdl.load(tmp_path / "whole.pdl")
    np.testing.assert_array_equal(again.parameters["w"], whole.parameters["w"])
    other = pdl.compile(LINE + "minimize loss with adam()")
    with pytest.raises(pdl.WeightError, match="'a' is missing"):
        pdl.train(other, data, weights=tmp_path / "middle.safetensors")


def test_resumed_with_shuffled_batches(tmp_path: pathlib.Path) -> None:
    x = np.random.default_rng(0).normal(size=50).astype(np.float32)
    data = {"x": x, "target": 3 * x - 1}
    text = LINE + "minimize loss with adam(lr=0.05)"

    def trained(epochs: int, epoch: int, weights: Any = None) -> Any:
        training = pdl.train(text, pdl.batches(data, 8, epoch=epoch), epochs=epochs, weights=weights)
        list(training)
        return training

    path = tmp_path / "middle.safetensors"
    trained(2, 0).save(path)
    whole, resumed = (one.network().parameters for one in (trained(4, 0), trained(2, 2, path)))
    assert [whole[name].item() for name in "ab"] == [resumed[name].item() for name in "ab"]
