"""Training by epochs: results, validation data, the best epoch, early stopping."""

from __future__ import annotations

import json
import pathlib
import subprocess
import warnings
from typing import Any, Iterator

import numpy as np
import pytest

import pdl

LINE = """
input x: f32[N]
input target: f32[N]
param a: f32[] = zeros()
y = a * x
loss = mean((y - target) ** 2)
output y
output far = max(abs(y - target))
minimize loss with sgd(lr=0.1)
"""


def batch(slope: float, rows: int = 4) -> dict[str, Any]:
    x = np.ones(rows, np.float32)
    return {"x": x, "target": slope * x}


DATA, HELD_BACK = [batch(2), batch(2, 1)], [batch(2, 3), batch(1, 1)]


def test_what_an_epoch_gives() -> None:
    net = pdl.compile(LINE)
    training = pdl.train(net, DATA, epochs=3, validate=HELD_BACK)
    seen = []
    for epoch in training.epochs():
        a = net.parameters["a"].item()
        assert epoch.step == 2 * epoch.epoch
        expected = (3 * (a - 2) ** 2 + (a - 1) ** 2) / 4  # by rows
        assert epoch.validation["loss"] == pytest.approx(expected, rel=1e-5)
        assert epoch.validation["far"] == pytest.approx((3 * (2 - a) + abs(1 - a)) / 4, rel=1e-5)
        seen.append(epoch)
    assert [epoch.epoch for epoch in seen] == [1, 2, 3] and seen == training.history
    steps = list(pdl.train(LINE, DATA))
    assert seen[0].training["loss"] == seen[0].loss == (4 * steps[0].loss + steps[1].loss) / 5
    assert all(epoch.is_best for epoch in seen) and training.best == seen[-1]


def test_steps_and_epochs_of_one_loop() -> None:
    training = pdl.train(LINE, DATA, epochs=3)
    counts = [(step.step, len(training.history)) for step in training]
    assert counts == [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)]
    assert len(training.history) == 3 and training.history[0].validation == {}
    training = pdl.train(LINE, DATA, epochs=3)
    assert next(training).step == 1
    assert [epoch.step for epoch in training.epochs()] == [2, 4, 6]


def overshooting() -> list[dict[str, Any]]:
    """Batches with which a approaches 2, past 1, the optimum for the validation data."""
    return [batch(2)] * 3


def test_patience_and_the_best_one() -> None:
    net = pdl.compile(LINE)
    training = pdl.train(net, overshooting(), epochs=100, validate=[batch(1)], patience=3)
    values = []
    for epoch in training.epochs():
        values.append(net.parameters["a"].item())
    best = training.best
    assert best and best.epoch < len(values) == best.epoch + 3
    assert [epoch.is_best for epoch in training.history[-4:]] == [True, False, False, False]
    assert training.network(best=True).parameters["a"].item() == values[best.epoch - 1]
    assert training.network().parameters["a"].item() == net.parameters["a"].item() == values[-1]
    # A loop over steps ends with it.
    steps = list(pdl.train(LINE, overshooting(), epochs=100, validate=[batch(1)], patience=3))
    assert len(steps) == 3 * len(values)


def test_patience_without_validation_goes_by_the_training_data() -> None:
    text = LINE.replace("lr=0.1", "lr=0.0")
    training = pdl.train(text, DATA, epochs=100, patience=2)
    assert len(list(training.epochs())) == 3 and training.best == training.history[0]


def test_monitor() -> None:
    def best_of(**options: Any) -> int:
        training = pdl.train(LINE, overshooting(), epochs=4, validate=[batch(1)], **options)
        list(training.epochs())
        assert training.best
        return training.best.epoch

    smallest = best_of(monitor="far")
    assert smallest == best_of(monitor="far:min") == best_of()
    history = pdl.train(LINE, overshooting(), epochs=4, validate=[batch(1)])
    far = [epoch.validation["far"] for epoch in history.epochs()]
    assert best_of(monitor="far:max") == 1 + far.index(max(far))


def test_it_says_what_pdl_train_says(
    root: pathlib.Path, pdl_tool: str, tmp_path: pathlib.Path
) -> None:
    """The same epochs, the same means to the last bit, the same best weights."""
    folder = root / "examples" / "digits"
    arrays = dict(np.load(folder / "train.npz"))
    held_back = {name: array[:333] for name, array in arrays.items()}
    learned = {name: array[333:] for name, array in arrays.items()}
    np.savez(tmp_path / "v.npz", **held_back)
    np.savez(tmp_path / "t.npz", **learned)
    arguments = ["--data", tmp_path / "t.npz", "--validate", tmp_path / "v.npz", "--no-shuffle"]
    arguments += ["--epochs", "20", "--patience", "2", "--monitor", "loss", "--out", tmp_path / "run"]
    arguments += ["--precision", "bf16"]
    subprocess.run(
        [pdl_tool, "train", folder / "train.pdl", *arguments], check=True, capture_output=True
    )
    net = pdl.load(folder / "train.pdl")
    training = pdl.train(
        net,
        pdl.batches(learned, 32, shuffle=False),
        epochs=20,
        validate=pdl.batches(held_back, 32, shuffle=False),
        patience=2,
        monitor="loss",
        precision="bf16",
    )
    ours = list(training.epochs())
    lines = map(json.loads, (tmp_path / "run" / "metrics.jsonl").read_text().splitlines())
    theirs = [line for line in lines if "best" in line]
    assert len(ours) == len(theirs)
    for epoch, line in zip(ours, theirs):
        assert (epoch.step, epoch.epoch, epoch.is_best) == (line["step"], line["epoch"], line["best"])
        assert epoch.training == line["training"] and epoch.validation == line["validation"]
    best = pdl.load(folder / "train.pdl", weights=tmp_path / "run" / "best.safetensors")
    for name, value in training.network(best=True).parameters.items():
        np.testing.assert_array_equal(value, best.parameters[name])


def test_validation_is_in_inference_mode_and_changes_nothing() -> None:
    text = """
input x: f32[N, 8]
param w: f32[8] = ones()
state seen: f32[] = zeros()
update seen = seen + 1.0
loss = mean((dropout(x, p=0.5) @ w) ** 2)
output runs = seen
minimize loss with sgd(lr=0.001)
"""
    data = [{"x": np.ones((4, 8), np.float32)}] * 3
    nets = [pdl.compile(text), pdl.compile(text)]
    list(pdl.train(nets[0], data, epochs=2))
    training = pdl.train(nets[1], data, epochs=2, validate=data)
    for epoch in training.epochs():
        w = training.network().parameters["w"].numpy()
        assert epoch.validation["loss"] == pytest.approx(w.sum() ** 2, rel=1e-5)
    np.testing.assert_array_equal(nets[0].parameters["w"], nets[1].parameters["w"])
    assert nets[0].states["seen"].item() == nets[1].states["seen"].item() == 6


def test_rows_of_ragged_batches_count() -> None:
    text = """
input words: f32[N, ~T]
param a: f32[] = ones()
loss = mean((sequence_pool(words, kind="sum") * a) ** 2)
minimize loss with sgd(lr=0.0)
"""
    long = pdl.ragged([[1.0], [1.0], [1.0]], dtype=np.float32)
    short = pdl.ragged([[1.0, 1.0, 1.0]], dtype=np.float32)
    parts = {"words": short.values, "words.offsets": short.offsets}
    training = pdl.train(text, [{"words": long}, parts], validate=[parts, {"words": long}])
    (epoch,) = training.epochs()
    assert epoch.loss == epoch.validation["loss"] == (3 * 1 + 1 * 9) / 4


def test_inputs_without_common_rows_count_by_batches() -> None:
    text = """
input x: f32[N]
input y: f32[M]
param a: f32[] = ones()
loss = mean(x * a) + mean(y)
minimize loss with sgd(lr=0.0)
"""
    data = [{"x": np.ones(n, np.float32), "y": np.full(2, n, np.float32)} for n in (1, 3)]
    (epoch,) = pdl.train(text, data).epochs()
    assert epoch.loss == (2 + 4) / 2


def test_updates_of_ones_own() -> None:
    """The first floating-point output is the loss, and `step` counts, as in pdl train."""
    text = """
input x: f32[N]
state w: f32[] = ones()
output count = step
output loss = mean((w - x) ** 2)
update w = w - cast(step, to=f32)
"""
    data = [{"x": np.zeros(2, np.float32)}] * 3
    training = pdl.train(text, data, validate=data)
    steps = list(training)
    assert [step.metrics["count"] for step in steps] == [0, 1, 2]
    assert [step.loss for step in steps] == [1, 1, 0] and list(steps[0].metrics) == ["loss", "count"]
    assert training.network().states["w"].item() == -2
    assert training.history[0].validation["loss"] == 4
    wrong = [{"x": np.full(2, np.inf, np.float32)}]
    with pytest.raises(pdl.RunError, match="step 1: the loss 'loss' is inf"):
        list(pdl.train(text, wrong))


def test_a_counted_run_of_ones_own_goes_on(tmp_path: pathlib.Path) -> None:
    text = """
input x: f32[N]
state w: f32[] = ones()
output loss = mean(x) + w
update w = w + cast(step, to=f32)
"""
    data = [{"x": np.zeros(2, np.float32)}] * 6
    whole = pdl.train(text, data)
    list(whole)
    half = pdl.train(text, data[:3])
    list(half)
    half.save(tmp_path / "half.safetensors")
    rest = pdl.train(text, data[3:], weights=tmp_path / "half.safetensors")
    assert [step.step for step in rest] == [4, 5, 6]
    assert rest.network().states["w"].item() == whole.network().states["w"].item() == 16


def test_the_loss_of_a_step_without_one() -> None:
    text = LINE.replace("sgd(lr=0.1)", "sgd(lr=0.1) every 2")
    steps = list(pdl.train(text, [batch(2)] * 4))
    assert [np.isnan(step.loss) for step in steps] == [True, False, True, False]
    assert "far" in steps[0].metrics


class Loader:
    """Yields these batches in the first pass, and those in later ones."""

    def __init__(self, *passes: list[Any]) -> None:
        self._passes = [*passes]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._passes.pop(0) if len(self._passes) > 1 else self._passes[0])


def test_wrong_validation_data_are_told_before_the_first_step() -> None:
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([{"x": [1.0], "tragte": [1.0]}], pdl.RunError, "^validation batch 1: .*no input 'tragte'"),
        ([{"x": [1.0]}], pdl.RunError, "^validation batch 1: no value for input 'target'"),
        ([{**batch(1), "x": np.ones(4)}], pdl.RunError, r"^validation batch 1: .*got f64\[4\]"),
        ([{**batch(1), "x": "abc"}], TypeError, "^validation batch 1: input 'x': expected an array"),
        ([], pdl.Error, "the validation data yield no batch$"),
        ([[1.0]], TypeError, "the validation data yield list"),
    ]
    for validate, kind, message in wrong:
        net = pdl.compile(LINE)
        with pytest.raises(kind, match=message):
            list(pdl.train(net, DATA, validate=validate))
        assert net.parameters["a"].item() == 0


def test_validation_data_that_fail_later() -> None:
    net = pdl.compile(LINE)
    loader = Loader([batch(1)], [batch(1), {"x": [1.0]}])
    with pytest.raises(pdl.RunError, match="^validation batch 2: no value for input 'target'"):
        list(pdl.train(net, DATA, validate=loader))
    assert net.parameters["a"].item() != 0
    loader = Loader([batch(1)], [batch(1)], [])
    with pytest.raises(pdl.Error, match="the validation data yield no batch after epoch 2: can they"):
        list(pdl.train(net, DATA, epochs=2, validate=loader))


def test_validation_batches_without_rows() -> None:
    line = LINE.replace("output far = max(abs(y - target))", "")
    empty = batch(1, 0)
    alone = next(iter(pdl.train(pdl.compile(line), DATA, validate=[batch(1)]).epochs()))
    both = next(iter(pdl.train(pdl.compile(line), DATA, validate=[empty, batch(1), empty]).epochs()))
    assert both.validation == alone.validation
    with pytest.raises(pdl.Error, match="the validation data have no rows after epoch 1"):
        list(pdl.train(pdl.compile(line), DATA, validate=[empty]))


@pytest.mark.parametrize(
    "options,kind,message",
    [
        ({"patience": 0}, ValueError, "patience, .*, must be at least 1, got 0"),
        ({"patience": -1}, ValueError, "at least 1, got -1"),
        ({"patience": 1.5}, TypeError, "patience must be an integer, not 1.5"),
        ({"monitor": "fra"}, pdl.UnknownNameError, "there is no loss or metric 'fra', did you mean 'far'"),
        ({"monitor": "acc:max"}, pdl.UnknownNameError, "no loss or metric 'acc'; there are loss, far"),
        ({"monitor": ":max"}, pdl.UnknownNameError, "no loss or metric ':max'"),
        ({"monitor": 3}, TypeError, "monitor must be a string, not 3"),
        ({"validate": 3}, TypeError, "validate must be an iterable of batches, not 3"),
        ({"validate": batch(1)}, TypeError, r"got a dict of arrays: pdl.batches\(validate, 32\)"),
        ({"validate": iter(DATA), "epochs": 2}, TypeError, "which an iterator allows only once"),
    ],
)
def test_arguments_that_do_not_fit(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.train(LINE, DATA, **options)


def test_patience_of_a_network_without_a_metric() -> None:
    text = "input x: f32[N]\nstate w: f32[] = ones()\noutput y = w * x\nupdate w = w - mean(x)\n"
    data = [{"x": np.zeros(2, np.float32)}]
    with pytest.raises(pdl.Error, match="no loss and no scalar output"):
        pdl.train(text, data, patience=1)
    (epoch,) = pdl.train(text, data, validate=data).epochs()
    assert epoch.training == epoch.validation == {} and not epoch.is_best and np.isnan(epoch.loss)


def test_an_iterator_of_validation_batches_is_enough_for_one_epoch() -> None:
    training = pdl.train(LINE, DATA, validate=iter([batch(1), batch(1)]))
    assert len(list(training.epochs())) == 1


def test_a_loss_of_the_validation_data_that_is_not_finite() -> None:
    net = pdl.compile(LINE)
    wrong = batch(1)
    wrong["target"] = wrong["target"] * np.nan
    training = pdl.train(net, DATA, epochs=5, validate=Loader([batch(1)], [batch(1)], [wrong]))
    with pytest.raises(pdl.RunError, match="'loss' of the validation data is nan after step 4, of epoch 2"):
        list(training.epochs())
    after = training.network().parameters["a"].item()
    assert net.parameters["a"].item() == after != 0  # the parameters are finite
    assert training.network(best=True).parameters["a"].item() not in (0, after)  # after epoch 1


def test_a_metric_that_is_nan_is_never_best() -> None:
    text = LINE + "output odd = sqrt(-1.0 - abs(a))\n"
    training = pdl.train(text, DATA, epochs=3, monitor="odd")
    with pytest.warns(RuntimeWarning, match="the monitored metric 'odd' is nan after epoch 1"):
        assert not any(epoch.is_best for epoch in training.epochs())
    assert training.best is None
    with pytest.raises(pdl.Error, match="there is no best epoch yet"):
        training.network(best=True)


def test_training_that_nobody_asks_for() -> None:
    net = pdl.compile(LINE)
    with pytest.warns(RuntimeWarning, match="executes steps lazily, and none was executed"):
        pdl.train(net, DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(pdl.train(net, DATA))
        list(pdl.train(net, DATA).epochs())
        pdl.train(net, DATA).network()
