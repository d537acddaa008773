"""Trains a network with all processes that run this program: train_together.py HOW FOLDER [RANK WORLD]. Rank 0 writes
its results to FOLDER/HOW.*. HOW says where the processes come from, or what goes wrong."""

import pathlib
import sys

import numpy as np

import pdl

HOW, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
NET = """
input x: f32[N, 12]
input label: i64[N] in 0..4
logits = x |> fc(size=24, act=relu()) |> batch_norm() |> dropout(p=0.25) |> fc(size=4)
loss = mean(cross_entropy(logits, label))
minimize loss with adam(lr=0.01, clip_norm=1.0)
"""
# An input without rows.
SCALED = NET.replace("input x", "input scale: f32[]\ninput x").replace("label))", "label)) * scale")

random = np.random.default_rng(1)
ARRAYS = {"x": random.normal(size=(70, 12)).astype(np.float32), "label": random.integers(0, 4, 70)}


def ranks_of_program():
    if HOW in ("alone", "launched"):
        return pdl.Ranks()
    if HOW.startswith("mpi4py"):
        from mpi4py import MPI

        world = MPI.COMM_WORLD
        # Two groups, each of which trains separately.
        return pdl.Ranks(world.Split(world.rank % 2, world.rank)) if HOW == "mpi4py_split" else pdl.Ranks()
    return pdl.Ranks(rank=int(sys.argv[3]), world=int(sys.argv[4]), rendezvous=FOLDER / "rendezvous", timeout=30)


class Scaled:
    """Batches with a value for `scale`."""

    def __iter__(self):
        for begin in range(0, 64, 16):
            yield {"scale": 0.5, **{name: array[begin : begin + 16] for name, array in ARRAYS.items()}}


def data_of(rank):
    if HOW == "other_data":
        return pdl.batches(ARRAYS, 16, seed=rank)
    if HOW == "other_sizes":
        return [{name: array[: 16 + 4 * rank] for name, array in ARRAYS.items()}]
    if HOW == "fewer_batches":
        return list(pdl.batches(ARRAYS, 16))[: 5 - rank]
    if HOW == "broken_data":
        return (1 / (1 - rank) and batch for batch in pdl.batches(ARRAYS, 16))
    return pdl.batches(ARRAYS, 16, seed=7)


def main():
    ranks = ranks_of_program()
    if HOW == "indivisible":
        return list(pdl.train(NET, [{name: array[:15] for name, array in ARRAYS.items()}], distributed=ranks))
    options = {"micro_batch": 4, "seed": 3, "distributed": ranks}
    if HOW in ("other_data", "other_sizes", "fewer_batches", "broken_data"):
        return list(pdl.train(NET, data_of(ranks.rank), **options))
    held_out = pdl.batches(ARRAYS, 10, shuffle=False)
    training = pdl.train(NET, data_of(ranks.rank), epochs=3, validate=held_out, **options)
    seen = [(epoch.loss, epoch.validation, epoch.is_best) for epoch in training.epochs()]
    training.save(FOLDER / f"{HOW}.safetensors")
    scaled = pdl.train(SCALED, Scaled(), epochs=2, **options)
    seen.append([step.loss for step in scaled])
    if ranks.rank == 0:
        (FOLDER / f"{HOW}.txt").write_text(repr([seen, scaled.network().parameters]))


main()
