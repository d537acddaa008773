"""The example of Ray Train; skipped where ray is not installed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import pdl

pytest.importorskip("ray.train")


def test_the_example_trains_as_one_process(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    example = root / "examples" / "ray_train" / "train.py"
    folder = os.path.dirname(os.path.dirname(pdl.__file__))
    environment = {**os.environ, "PYTHONPATH": folder, "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    done = subprocess.run(
        [sys.executable, str(example), "2", str(tmp_path)],
        capture_output=True, text=True, timeout=300, env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    digits = root / "examples" / "digits"
    data = pdl.batches(dict(np.load(digits / "train.npz")), 32)
    training = pdl.train(pdl.load(digits / "train.pdl"), data, epochs=5, micro_batch=8)
    assert len(list(training.epochs())) == 5
    training.save(tmp_path / "one.safetensors")
    assert (tmp_path / "last.safetensors").read_bytes() == (tmp_path / "one.safetensors").read_bytes()
    assert str(tmp_path) in done.stdout.splitlines()
