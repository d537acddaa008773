"""Trains the digits network with Ray Train: train.py [WORKERS] [FOLDER]. Ray starts the workers and collects their
reports; the workers communicate by Gloo. FOLDER must be seen by all of them."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import ray.train
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

import pdl

DIGITS = Path(__file__).resolve().parent.parent / "digits"


def work(config):
    context = ray.train.get_context()
    folder = Path(config["folder"])
    ranks = pdl.Ranks(
        rank=context.get_world_rank(), world=context.get_world_size(), rendezvous=folder / "rendezvous"
    )
    arrays = dict(np.load(DIGITS / "train.npz"))
    training = pdl.train(
        pdl.load(DIGITS / "train.pdl"), pdl.batches(arrays, 32), epochs=5, distributed=ranks, micro_batch=8
    )
    for epoch in training.epochs():
        ray.train.report({"loss": epoch.loss})
    training.save(folder / "last.safetensors")


if __name__ == "__main__":
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    trainer = DataParallelTrainer(
        work,
        train_loop_config={"folder": folder},
        scaling_config=ray.train.ScalingConfig(num_workers=workers),
        run_config=ray.train.RunConfig(storage_path=folder),
    )
    trainer.fit()
    print(folder)
