"""What the checks share. Each function of CHECKS returns the results of pdl and those of PyTorch, by name."""

import dataclasses
import pathlib

import numpy as np
import torch

import networks

CHECKS = {}


@dataclasses.dataclass
class Context:
    """Where a check finds the program and the sources, and a folder of its own."""

    pdl: str
    examples: pathlib.Path
    docs: str
    folder: pathlib.Path

    def example(self, name, settings=(), **options):
        return networks.Network(self.pdl, self.folder, (self.examples / name).read_text(), settings, **options)

    def hugging_face(self, name, settings):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "blocks.pdl").write_text((self.examples / "huggingface/blocks.pdl").read_text())
        return self.example(f"huggingface/{name}.pdl", settings)

    def cookbook(self, heading, index=0, lines="", **options):
        return networks.Network(self.pdl, self.folder, networks.cookbook(self.docs, heading, index) + lines, **options)


def check(function):
    CHECKS[function.__name__] = function
    return function


def normal(*dims, seed=1, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(dims) * scale).astype(np.float32)


def uniform(*dims, seed=1):
    return np.random.default_rng(seed).random(dims).astype(np.float32)


def indices(below, *dims, seed=1):
    return np.random.default_rng(seed).integers(0, below, dims)


def compare(network, inputs, outputs, compute, sampled=(), lines=""):
    """Runs `network` and compute(weights, inputs), which returns a dict of values with those of `outputs`, and `loss`.
    `sampled` are random values of the network, which `compute` gets as inputs."""
    lines += "".join(f"\noutput {name}" for name in sampled)
    found = network.run(inputs, [*outputs, *sampled], lines=lines)
    tensors = network.tensors(inputs)
    tensors.update({name: torch.tensor(found.pop(name).astype(np.float64)) for name in sampled})
    values = compute(network.weights, tensors)
    expected = {name: values[name] for name in outputs} | network.gradients(values["loss"])
    return found, expected


def linear(w, name, x):
    return x @ w[f"{name}.w"] + w[f"{name}.b"]


def mlp(w, name, x, layers, act):
    for i in range(layers):
        x = linear(w, f"{name}.x.{i}", x)
        if i + 1 < layers:
            x = act(x)
    return x
