"""Profiles of runs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pdl

TEXT = """
input x: f32[N, 64]
param w: f32[64, 64] = normal()
y = relu(x @ w + 1.0)
output y
output sorted = sort(x, axis=1)
"""
X = np.ones((8, 64), np.float32)


def test_the_steps_of_a_run() -> None:
    profile = pdl.compile(TEXT, name="net.pdl").profile({"x": X}, runs=3)
    assert isinstance(profile, pdl.Profile) and profile.runs == 3
    steps = {step.operators: step for step in profile}
    assert set(steps) == {("matmul", "add", "relu"), ("sort",)}
    group = steps["matmul", "add", "relu"]
    assert (group.name, group.type) == ("y", "f32[8, 64]") and group.place.startswith("net.pdl:4:")
    assert [step.seconds for step in profile] == sorted(
        (step.seconds for step in profile), reverse=True
    )
    for step in profile:
        assert step.seconds > 0 and step.share == pytest.approx(step.seconds / profile.seconds)
    # 8 * 64 elements: a matmul over 64, an addition and relu.
    assert group.operations == 8 * 64 * (2 * 64 + 2) and group.layer == ""
    assert group.bytes >= 4 * (8 * 64 + 64 * 64 + 8 * 64)
    inside = sum(step.seconds for step in profile)
    assert profile.between == pytest.approx(max(0, profile.seconds - inside))


def test_it_prints_as_a_table() -> None:
    profile = pdl.compile(TEXT, name="net.pdl").profile({"x": X}, runs=3)
    lines = str(profile).splitlines()
    assert re.fullmatch(r"3 runs, [\d.]+ (us|ms) each. Measured peak of \d+ threads?: .*", lines[0])
    assert any("matmul, add, relu -> y: f32[8, 64]  # net.pdl:4:" in line for line in lines)
    assert lines[-1].endswith("all calls") and repr(profile) == str(profile)


def test_only_what_is_asked_for_runs() -> None:
    net = pdl.compile(TEXT)
    assert [step.operators for step in net.profile({"x": X}, outputs="sorted")] == [("sort",)]
    assert net.profile({"x": X}).runs == 10


def test_states_stay_what_they_are() -> None:
    net = pdl.compile("input x: f32[]\nstate s: f32[] = ones()\nupdate s = s + x\noutput y = s * 2.0")
    net(x=1.0)
    held = net.states["s"]
    profile = net.profile({"x": 1.0}, runs=5)
    assert len(profile) and held.item() == net.states["s"].item() == 2
    assert net(x=1.0)["y"].item() == 6


def test_random_operators_draw_as_without_it() -> None:
    text = "input x: f32[N]\noutput y = x[0] + normal(dims=[3])"
    net, other = pdl.compile(text), pdl.compile(text)
    net.profile({"x": [0.0]})
    assert net(x=[0.0])["y"].tolist() == other(x=[0.0])["y"].tolist()


def test_what_was_learned_is_what_runs() -> None:
    net = pdl.compile(
        "input x: f32[N]\nparam a: f32[] = zeros()\nloss = mean((a - x) ** 2)\noutput y = a * x"
    )
    for _ in pdl.train(net, [{"x": np.ones(1, np.float32)}] * 2, pdl.layers.sgd(lr=0.1)):
        net.profile({"x": [1.0]}, runs=1)
    assert net(x=[1.0])["y"].item() > 0


@pytest.mark.parametrize(
    "options,kind,message",
    [
        ({"runs": 0}, ValueError, "runs must be from 1 to 1000000, got 0"),
        ({"runs": "many"}, TypeError, "runs must be an integer, not 'many'"),
        ({"outputs": 3}, TypeError, "outputs must be the name of an output"),
        ({"training": 1}, TypeError, "training must be True or False, not 1"),
        ({"outputs": "z"}, pdl.Error, "'z'"),
    ],
)
def test_arguments_that_do_not_fit(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.compile(TEXT).profile({"x": X}, **options)
    with pytest.raises(pdl.RunError, match="no value for input 'x'"):
        pdl.compile(TEXT).profile({})
