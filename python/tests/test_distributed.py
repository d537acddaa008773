"""Training by several processes; the tests of a launcher are skipped where it is not installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import pdl

PROGRAM = str(pathlib.Path(__file__).parent / "programs" / "train_together.py")
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n"],
    "mpich": ["mpirun.mpich", "-n"],
}
BUILT = pathlib.Path(pdl.__file__).parents[2] / "lib"


def run(*command: str, status: int = 0) -> str:
    done = subprocess.run([*command], capture_output=True, text=True, timeout=200)
    assert (done.returncode == 0) == (status == 0), done.stderr
    return done.stderr


def launcher(name: str, ranks: int) -> list[str]:
    """The command that starts this number of processes of a Python program."""
    if not shutil.which(LAUNCHERS[name][0]) or not (BUILT / f"libpdl_{name}.so").exists():
        pytest.skip(f"no {name}")
    return [*LAUNCHERS[name], str(ranks), sys.executable]


def by_hand(how: str, folder: pathlib.Path, ranks: int) -> list[tuple[int, str]]:
    """Starts processes without a launcher; the status and the messages of each."""
    if not (BUILT / "libpdl_gloo.so").exists():
        pytest.skip("no gloo")
    started = [
        subprocess.Popen(
            [sys.executable, PROGRAM, how, str(folder), str(rank), str(ranks)], stderr=subprocess.PIPE, text=True
        )
        for rank in range(ranks)
    ]
    output = [process.communicate(timeout=200)[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, output)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The results of one process."""
    folder = tmp_path_factory.mktemp("alone")
    run(sys.executable, PROGRAM, "alone", str(folder))
    return folder


def check_same(how: str, folder: pathlib.Path, alone: pathlib.Path) -> None:
    for suffix in (".safetensors", ".txt"):
        assert (folder / (how + suffix)).read_bytes() == (alone / ("alone" + suffix)).read_bytes()


@pytest.mark.parametrize("name", LAUNCHERS)
@pytest.mark.parametrize("ranks", [2, 4])
def test_launchers(name: str, ranks: int, tmp_path: pathlib.Path, alone: pathlib.Path) -> None:
    run(*launcher(name, ranks), PROGRAM, "launched", str(tmp_path))
    check_same("launched", tmp_path, alone)


def test_by_hand(tmp_path: pathlib.Path, alone: pathlib.Path) -> None:
    for status, output in by_hand("by_hand", tmp_path, 2):
        assert status == 0, output
    check_same("by_hand", tmp_path, alone)


@pytest.mark.parametrize("how", ["mpi4py", "mpi4py_split"])
def test_mpi4py(how: str, tmp_path: pathlib.Path, alone: pathlib.Path) -> None:
    pytest.importorskip("mpi4py")
    found = subprocess.run(
        [sys.executable, "-c", "from mpi4py import MPI; print(MPI.get_vendor()[0])"],
        capture_output=True, text=True, check=True,
    )
    name = "openmpi" if found.stdout.strip() == "Open MPI" else "mpich"
    run(*launcher(name, 4), PROGRAM, how, str(tmp_path))
    check_same(how, tmp_path, alone)


def test_the_same_as_the_program(tmp_path: pathlib.Path, pdl_tool: str) -> None:
    """Micro-batches give the bits of `pdl train --micro-batch`, also after a checkpoint."""
    text = pathlib.Path(PROGRAM).read_text().split('NET = """')[1].split('"""')[0]
    random = np.random.default_rng(1)
    arrays = {"x": random.normal(size=(70, 12)).astype(np.float32), "label": random.integers(0, 4, 70)}
    np.savez(tmp_path / "data.npz", **arrays)  # type: ignore[arg-type]
    (tmp_path / "net.pdl").write_text(text)
    command = [pdl_tool, "train", "net.pdl", "--data", "data.npz", "--no-shuffle", "--micro-batch", "4"]
    command += ["--batch-size", "16", "--epochs", "2", "--seed", "3", "--out", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    data = pdl.batches(arrays, 16, shuffle=False)
    first = pdl.train(text, data, micro_batch=4, seed=3)
    assert len(list(first)) == 5
    first.save(tmp_path / "first.safetensors")
    second = pdl.train(text, data, micro_batch=4, seed=3, weights=tmp_path / "first.safetensors")
    assert len(list(second)) == 5
    learned = second.network().parameters
    expected = pdl.compile(text, weights=tmp_path / "out/last.safetensors").parameters
    for name, value in expected.items():
        np.testing.assert_array_equal(learned[name], value)


@pytest.mark.parametrize(
    "how, message",
    [
        ("other_data", "the ranks do not agree: rank 1 differs from rank 0 in the data [PDL0515]"),
        ("other_sizes", "step 1: rank 0 has a batch of 16 rows, but rank 1 has a batch of 20 rows"),
        ("fewer_batches", "step 5: rank 0 has a batch of 6 rows, but rank 1 has no more data"),
        ("indivisible", "2 ranks cannot share a batch of 15 rows equally; micro_batch=… sets the number of rows"),
    ],
)
def test_ranks_that_differ(how: str, message: str, tmp_path: pathlib.Path) -> None:
    for status, output in by_hand(how, tmp_path, 2):
        assert status == 1 and message in output, output


def test_data_that_fail_at_one_rank(tmp_path: pathlib.Path) -> None:
    (first, output), (second, own) = by_hand("broken_data", tmp_path, 2)
    assert first == second == 1
    assert "pdl.errors.RankError: rank 1 has failed: division by zero" in output
    assert "ZeroDivisionError" in own


def test_arguments(tmp_path: pathlib.Path) -> None:
    ranks = pdl.Ranks()
    assert (ranks.rank, ranks.size) == (0, 1)
    with pytest.raises(TypeError, match="rank, world and rendezvous are given together"):
        pdl.Ranks(rank=0, world=2)
    with pytest.raises(ValueError, match="rank must be from 0 to world - 1, got rank 2 of 2"):
        pdl.Ranks(rank=2, world=2, rendezvous=tmp_path)
    with pytest.raises(ValueError, match="timeout must be a number of seconds above 0, got 0"):
        pdl.Ranks(timeout=0)
    with pytest.raises(TypeError, match="communicator must be an intracommunicator of mpi4py, not 5"):
        pdl.train("", [], distributed=5)
    two = "input x: f32[N, 2]\ninput y: f32[M, 2]\nloss = mean(x) * mean(y)\n"
    training = pdl.train(two + "param p: f32[] = ones()\nlost = loss * p\n", [], pdl.layers.sgd(lr=0.1), "lost", micro_batch=2)
    with pytest.raises(pdl.Error, match="the first dims of all inputs are the same symbol"):
        list(training)
    with pytest.raises(ValueError, match="micro_batch must be at least 1, or 0 for the default, got -1"):
        pdl.train("", [], micro_batch=-1)


def test_no_library() -> None:
    """A launcher without a library is an error, not several trainings side by side."""
    text = "import pdl\npdl.Ranks()\n"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "SLURM_STEP_NUM_TASKS": "4"}
    )
    assert done.returncode == 1
    assert "RankError: srun has started 4 processes, which cannot work together: it was started without MPI" in done.stderr
