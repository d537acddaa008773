"""Builds the network of examples/digits, trains it, and saves it.

python python/examples/digits.py [FOLDER]     # writes digits.pdl and digits.safetensors to FOLDER
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

import pdl

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits"


class Dense:
    """A fully connected layer, in plain Python."""

    def __init__(self, name: str, inputs: int, size: int, init: pdl.Function) -> None:
        self.w = pdl.param(f"{name}_w", f"f32[{inputs}, {size}]", init, weight_decay=3e-4)
        self.b = pdl.param(f"{name}_b", f"f32[{size}]", pdl.ops.zeros())

    def __call__(self, x: pdl.Value) -> pdl.Value:
        return x @ self.w + self.b


def logits_of(image: pdl.Value) -> pdl.Value:
    """A number for each digit, larger where it is more likely."""
    first = Dense("first", 64, 64, pdl.ops.he_normal())
    second = Dense("second", 64, 10, pdl.ops.he_normal())
    return second(pdl.ops.relu(first(image)))


def training_graph() -> pdl.Graph:
    """The network with its loss, and what minimizes it."""
    with pdl.Graph() as graph:
        image = pdl.input("image", "f32[N, 64]")
        label = pdl.input("label", "i64[N] in 0..10")
        logits = logits_of(image)
        loss = pdl.ops.mean(pdl.ops.cross_entropy(logits, label), name="loss")
        pdl.output(logits, "logits")
        rate = pdl.layers.cosine(pdl.step(), from_=0.003, until=5_000)
        pdl.minimize(loss, pdl.layers.adam(lr=rate))
    return graph


def reading_graph() -> pdl.Graph:
    """The network that reads pictures with what was learned."""
    with pdl.Graph() as graph:
        image = pdl.input("image", "f32[N, 64]")
        prob = pdl.ops.softmax(logits_of(image))
        pdl.output(pdl.ops.argmax(prob, axis=1), "digit")
        pdl.output(pdl.ops.max(prob, axes=[1]), "confidence")
    return graph


def train(epochs: int = 100) -> pdl.Network:
    """What reads digits, trained on the pictures of examples/digits."""
    arrays = np.load(DATA / "train.npz")
    data = pdl.batches({"image": arrays["image"], "label": arrays["label"]}, 32)
    training = pdl.train(training_graph(), data, epochs=epochs)
    for step in training:
        if step.step % 1000 == 0:
            print(f"step {step.step}, epoch {step.epoch}: loss {step.loss:.4f}")
    return reading_graph().compile(weights=training.network().parameters)


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    net = train()
    digit = net(image=np.load(DATA / "images.npy"))["digit"]
    right = int((digit.numpy() == np.load(DATA / "labels.npy")).sum())
    print(f"{right} of {digit.size} right")
    net.save(folder / "digits.pdl")


if __name__ == "__main__":
    main()
