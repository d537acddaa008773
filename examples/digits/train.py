#!/usr/bin/env python3
"""Trains the network of digits.pdl and writes the files that it is run with.

    python3 -m venv .venv && .venv/bin/pip install numpy scikit-learn
    .venv/bin/python examples/digits/train.py

scikit-learn only hands out the pictures; the training is plain NumPy. Written beside this script:
digits.safetensors (the weights), images.npy and labels.npy (200 pictures kept out of the training,
and what they show); and test/digits/expected.npy, the classes that this network gives to them.

`train.py --validate` writes nothing: it trains on four fifths of the training pictures and measures
on the other fifth, five times. Settings are to be chosen with it, never by the 200 test pictures.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
EXPECTED = HERE.parents[1] / "test" / "digits" / "expected.npy"

SEED = 20
TEST_IMAGES = 200
HIDDEN = 64
EPOCHS = 100
BATCH = 32
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 3e-4


def forward(params, images):
    """Returns the hidden layer and the logits, as digits.pdl computes them."""
    hidden = np.maximum(images @ params["w1"] + params["b1"], 0)
    return hidden, hidden @ params["w2"] + params["b2"]


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def gradients(params, images, labels):
    """Gradients of the mean cross entropy, plus WEIGHT_DECAY times the matrices."""
    hidden, logits = forward(params, images)
    d_logits = softmax(logits)
    d_logits[np.arange(len(labels)), labels] -= 1
    d_logits /= len(labels)
    d_hidden = (d_logits @ params["w2"].T) * (hidden > 0)
    return {
        "w1": images.T @ d_hidden + WEIGHT_DECAY * params["w1"],
        "b1": d_hidden.sum(axis=0),
        "w2": hidden.T @ d_logits + WEIGHT_DECAY * params["w2"],
        "b2": d_logits.sum(axis=0),
    }


def train(images, labels, random):
    """Adam (Kingma and Ba, arXiv:1412.6980), its learning rate falling in a line to 0, in float64."""
    inputs, classes = images.shape[1], 10
    params = {
        "w1": random.normal(0, np.sqrt(2 / inputs), (inputs, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "w2": random.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, classes)),
        "b2": np.zeros(classes),
    }
    mean = {name: np.zeros_like(value) for name, value in params.items()}
    square = {name: np.zeros_like(value) for name, value in params.items()}
    steps = EPOCHS * -(-len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(images), BATCH):
            batch = order[start : start + BATCH]
            rate = LEARNING_RATE * (1 - step / steps)
            step += 1
            for name, gradient in gradients(params, images[batch], labels[batch]).items():
                mean[name] += 0.1 * (gradient - mean[name])
                square[name] += 0.001 * (gradient**2 - square[name])
                direction = (mean[name] / (1 - 0.9**step)) / (
                    np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8
                )
                params[name] -= rate * direction
    return params


def accuracy(params, images, labels):
    return np.mean(forward(params, images)[1].argmax(axis=1) == labels)


def write_safetensors(path, tensors):
    """The safetensors format: the header's length, a JSON header, then the bytes end to end."""
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {
            "dtype": "F32",
            "shape": list(value.shape),
            "data_offsets": [offset, offset + value.nbytes],
        }
        offset += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(value.astype("<f4").tobytes())


def main():
    # RandomState, not default_rng: its numbers are the same in every release of NumPy.
    random = np.random.RandomState(SEED)
    images, labels = load_digits(return_X_y=True)
    images, labels = images / 16, labels.astype(np.int64)
    order = random.permutation(len(images))
    test, rest = order[:TEST_IMAGES], order[TEST_IMAGES:]

    if sys.argv[1:] == ["--validate"]:
        scores = []
        for held_out in np.array_split(rest, 5):
            kept = np.setdiff1d(rest, held_out)
            params = train(images[kept], labels[kept], np.random.RandomState(SEED))
            scores.append(accuracy(params, images[held_out], labels[held_out]))
        print("validation accuracy:", *(f"{s:.2%}" for s in scores), f"mean {np.mean(scores):.2%}")
        return

    params = train(images[rest], labels[rest], random)
    params = {name: value.astype(np.float32) for name, value in params.items()}
    images = images.astype(np.float32)
    logits = forward(params, images[test])[1]
    digits = logits.argmax(axis=1)
    first, second = np.sort(logits, axis=1)[:, :-3:-1].T

    write_safetensors(HERE / "digits.safetensors", params)
    np.save(HERE / "images.npy", images[test])
    np.save(HERE / "labels.npy", labels[test])
    EXPECTED.parent.mkdir(parents=True, exist_ok=True)
    np.save(EXPECTED, digits.astype(np.int64))

    right = int((digits == labels[test]).sum())
    print(f"training accuracy: {accuracy(params, images[rest], labels[rest]):.2%} of {len(rest)}")
    print(f"test accuracy: {right} of {TEST_IMAGES} right ({right / TEST_IMAGES:.2%})")
    print(f"smallest lead of a winning logit: {(first - second).min():.3f}")


if __name__ == "__main__":
    main()
