"""Copies and pickles of networks."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import COUNTER, PAIR

import pdl

@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_network_is_copied(copied: Any) -> None:
    net = pdl.compile(PAIR + "loss = mean(y)\nminimize loss with sgd(lr=1.0)\n", threads=1, seed=3)
    net.set_parameter("w", [3.0, 4.0])
    net(x=[0.0])
    other = copied(net)
    assert type(other) is pdl.Network and other.inputs == net.inputs and other.text() == net.text()
    assert other.states["s"].tolist() == [2, 2] and other(x=[0.0])["y"].tolist() == [12, 16]
    assert net.states["s"].tolist() == [2, 2]  # which it does not share
    other.reset()
    assert other.states["s"].tolist() == [1, 1]
    other.set_parameter("w", [0.0, 0.0])
    assert net.parameters["w"].tolist() == [3, 4]
    list(pdl.train(other, [{"x": np.zeros(1, np.float32)}]))
    assert other.parameters["w"].tolist() == [-1, -1]


class Named(pdl.Network):
    """A network with an attribute."""

    def __init__(self, network: pdl.Network, title: str) -> None:
        super().__init__(network)
        self.title = title


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_subclass_is_copied(copied: Any) -> None:
    net = Named(pdl.compile("input x: f32[N]\nparam a: f32[] = ones()\noutput y = x * a\nloss = mean(y)"), "first")
    list(pdl.train(net, [{"x": [1.0]}], pdl.layers.sgd(lr=1.0)))
    other = copied(net)
    assert type(other) is Named and other.title == "first" and other(x=[2.0])["y"].tolist() == [0]


def test_a_copy_draws_from_the_seed() -> None:
    net = pdl.compile("input x: f32[N]\noutput y = x[0] + normal(dims=[3])", seed=3)
    first = net(x=[0.0])["y"].tolist()
    assert copy.deepcopy(net)(x=[0.0])["y"].tolist() == first != net(x=[0.0])["y"].tolist()


def test_states_of_rows_are_copied() -> None:
    net = pdl.compile("input x: f32[N]\nstate s: f32[N] = zeros()\nupdate s = s + x\noutput s")
    net(x=[1.0, 2.0])
    assert copy.deepcopy(net)(x=[1.0, 1.0])["s"].tolist() == [2, 3]


def _total(net: pdl.Network, x: float) -> float:
    return float(net(x=x)["sum"].item())


def test_a_network_goes_to_another_process() -> None:
    net = pdl.compile(COUNTER)
    net(x=2.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.starmap(_total, [(net, 3.0)]) == [5]
