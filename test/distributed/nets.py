"""The networks and data of the tests of distributed training."""

import struct
import zipfile
from array import array
from pathlib import Path
from random import Random

ROWS = 104  # with batches of 16 rows, the last one has 8

MLP = """
input x: f32[N, 6]
input y: i64[N] in 0..3
logits = x |> fc(size=16, act=tanh()) |> dropout(p=0.1) |> fc(size=3)
loss = mean(cross_entropy(logits, y))
output right = mean(cast(equal(argmax(logits, axis=1), y), to=f32))
minimize loss with adam(lr=0.01, clip_norm=1.0)
"""
LENET = """
input x: f32[N, 1, 12, 12]
input y: i64[N] in 0..3
features = x |> conv(channels=4, kernel=3) |> batch_norm() |> relu() |> max_pool(kernel=2)
logits = reshape(features, [N, 100]) |> fc(size=3)
loss = mean(cross_entropy(logits, y))
minimize loss with sgd(lr=0.05, momentum=0.9)
"""
ENCODER = """
input x: f32[N, 5, 8]
input y: i64[N] in 0..3
h = transformer_encoder(x, layers=1, heads=2, hidden=16)
logits = mean(h, axes=[1]) |> fc(size=3)
loss = mean(cross_entropy(logits, y))
minimize loss with adamw(lr=0.005)
"""
EMBEDDING = """
input x: i64[N, 4] in 0..50
input y: i64[N] in 0..3
logits = embedding(x, size=6) |> mean(axes=[1]) |> fc(size=3)
loss = mean(cross_entropy(logits, y))
minimize loss with adagrad(lr=0.1)
"""
NETWORKS = {"mlp": (MLP, [6]), "lenet": (LENET, [1, 12, 12]), "encoder": (ENCODER, [5, 8]), "embedding": (EMBEDDING, [4])}


def npy(kind, sizes, values):
    """The bytes of a .npy file; `kind` is "<f4" or "<i8"."""
    shape = "(" + "".join(f"{size}, " for size in sizes) + ")"
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    numbers = array("f" if kind == "<f4" else "q", values).tobytes()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers


def write(folder, name, rows=ROWS, seed=1):
    """Writes NAME.pdl and NAME.npz; returns their paths."""
    text, sizes = NETWORKS[name]
    random, count = Random(seed), rows
    for size in sizes:
        count *= size
    if name == "embedding":
        x = npy("<i8", [rows, *sizes], [random.randrange(50) for _ in range(count)])
    else:
        x = npy("<f4", [rows, *sizes], [random.gauss(0, 1) for _ in range(count)])
    y = npy("<i8", [rows], [random.randrange(3) for _ in range(rows)])
    model, data = Path(folder) / f"{name}.pdl", Path(folder) / f"{name}.npz"
    model.write_text(text)
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("x.npy", x)
        archive.writestr("y.npy", y)
    return str(model), str(data)
