#!/usr/bin/env python3
"""Tests `pdl train` with several processes: distributed_test.py PDL openmpi|mpich|gloo|torchrun. With gloo, the processes
are started without a launcher. Exits with status 77, which ctest reports as skipped, if the launcher or the module for
it is not there."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import hosts
import nets

PDL, LAUNCHER = sys.argv[1:3]
STEPS = 100


def launcher(ranks):
    starts = {
        "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n"],
        "mpich": ["mpirun.mpich", "-n"],
        "gloo": [str(Path(__file__).parent / "launch.py"), "-n"],
        "torchrun": ["torchrun", "--standalone", "--no-python", "--nproc-per-node"],
    }
    return [*starts[LAUNCHER], str(ranks)]


def command(ranks, model, data, *options):
    start = launcher(ranks) if ranks else []
    return [*start, PDL, "train", model, "--data", data, "--threads", "1", "--batch-size", "16", *options]


def run(*arguments, timeout=300):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=timeout)


def ranks_of(process):
    """The process ids of the ranks below a launcher."""
    below, found = {}, []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.read_text().split(" ", 1)
            below.setdefault(int(rest.rsplit(")", 1)[1].split()[1]), []).append(int(pid))
        except (OSError, IndexError):
            pass  # ended meanwhile
    pending = [process]
    while pending:
        for child in below.get(pending.pop(), []):
            pending.append(child)
            try:
                if os.path.samefile(f"/proc/{child}/exe", PDL):
                    found.append(child)
            except OSError:
                pass
    return found


def is_alive(pid):
    """Whether the process runs or is stopped; one that has ended may still wait for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def step_of(checkpoint):
    """The step of a checkpoint, from its metadata."""
    with open(checkpoint, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return json.loads(header["__metadata__"]["pdl.progress"])["step"]


class Distributed(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pdl-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def train(self, ranks, model, data, out, *options, status=0):
        done = run(ranks, model, data, "--out", str(self.folder / out), *options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def weights(self, out):
        return (self.folder / out / "last.safetensors").read_bytes()

    def test_same_bits_for_any_number_of_ranks(self):
        for name in nets.NETWORKS:
            with self.subTest(name):
                model, data = nets.write(self.folder, name)
                options = ["--steps", str(STEPS), "--micro-batch", "4", "--validate", data]
                self.train(0, model, data, f"{name}0", *options)
                for ranks in (1, 2, 4):
                    output = self.train(ranks, model, data, f"{name}{ranks}", *options)
                    self.assertEqual(self.weights(f"{name}{ranks}"), self.weights(f"{name}0"), output)
                # Each gradient is sent as soon as it is computed.
                output = self.train(2, model, data, f"{name}b", *options, "--bucket", "1")
                self.assertEqual(self.weights(f"{name}b"), self.weights(f"{name}0"), output)

    def test_gpus(self):
        """With one GPU the ranks share it and add gradients on the CPU; with more, each has one."""
        model, data = nets.write(self.folder, "mlp")
        options = ["--steps", str(STEPS), "--micro-batch", "4", "--device", "cuda"]
        done = run(0, model, data, "--out", str(self.folder / "one"), *options)
        if done.returncode == 3:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        for out, more in (("two", []), ("shards", ["--shard-optimizer"]), ("cpu", ["--cpu-sums"])):
            output = self.train(2, model, data, out, *options, *more)
            self.assertEqual(self.weights(out), self.weights("one"), output)

    @unittest.skipIf(LAUNCHER == "torchrun", "it needs an agent on each host")
    def test_two_hosts(self):
        model, data = nets.write(self.folder, "mlp")
        options = ["--data", data, "--threads", "1", "--batch-size", "16", "--micro-batch", "4", "--steps", "20"]
        self.train(0, model, data, "one", "--micro-batch", "4", "--steps", "20")
        try:
            with hosts.TwoHosts(self.folder) as two:
                done = subprocess.run([*two.launcher(LAUNCHER, 4), PDL, "train", model, *options, "--out",
                                       str(self.folder / "two")], capture_output=True, text=True, timeout=100)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no network namespaces: {error}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; 4 processes", done.stderr)
        self.assertEqual(self.weights("two"), self.weights("one"))

    def test_rank_0_alone_prints_and_writes(self):
        model, data = nets.write(self.folder, "mlp")
        output = self.train(4, model, data, "out", "--epochs", "2")
        self.assertEqual(output.count("; 4 processes"), 1, output)
        self.assertEqual(output.count("epoch 2/2"), 1, output)
        self.assertNotIn("rank ", output)
        lines = (self.folder / "out/metrics.jsonl").read_text().splitlines()
        # Each of the 14 steps and 2 epochs once.
        self.assertEqual(len(lines), 16, lines)

    def test_log_of_each_rank(self):
        model, data = nets.write(self.folder, "mlp")
        logs = self.folder / "logs"
        for steps, *resume in (("4",), ("6", "--resume")):  # the second run appends to the files of the first
            self.train(4, model, data, "out", "--steps", steps, *resume, "--ranks-log", str(logs))
        self.assertEqual(sorted(file.name for file in logs.iterdir()), [f"rank-{rank}.jsonl" for rank in range(4)])
        losses, processes = set(), set()
        for rank in range(4):
            lines = [json.loads(line) for line in (logs / f"rank-{rank}.jsonl").read_text().splitlines()]
            for first in lines.pop(5), lines.pop(0):
                self.assertEqual([first["rank"], first["ranks"], first["threads"]], [rank, 4, 1])
                processes.add(first["process"])
            self.assertEqual([line["step"] for line in lines], [1, 2, 3, 4, 5, 6])
            for line in lines:
                self.assertGreater(line["seconds"], 0)
                self.assertGreaterEqual(line["waited"], 0)
            losses.add(json.dumps([line["training"] for line in lines]))
        self.assertEqual(len(losses), 1)
        self.assertEqual(len(processes), 8)
        # Errors before the first step, and a single process.
        self.train(2, model, str(self.folder / "none.npz"), "wrong", "--ranks-log", str(logs), status=1)
        ends = [json.loads((logs / f"rank-{rank}.jsonl").read_text().splitlines()[-1])["error"] for rank in (0, 1)]
        self.assertIn("none.npz", ends[0])
        self.assertEqual(ends[1], "another rank has failed")
        self.train(0, model, data, "one", "--steps", "2", "--ranks-log", str(self.folder / "single"))
        lines = (self.folder / "single/rank-0.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line).get("step") for line in lines], [None, 1, 2])
        self.assertNotIn("waited", json.loads(lines[1]))
        blocked = self.folder / "file"
        blocked.write_text("")
        output = self.train(2, model, data, "blocked", "--ranks-log", str(blocked), status=1)
        self.assertIn(f"error: cannot write '{blocked}", output)

    def test_resumes_with_another_number_of_ranks(self):
        model, data = nets.write(self.folder, "mlp")
        self.train(4, model, data, "whole", "--steps", "40")
        self.train(4, model, data, "parts", "--steps", "15")
        self.train(2, model, data, "parts", "--steps", "29", "--resume")
        self.train(0, model, data, "parts", "--steps", "40", "--resume")
        self.assertEqual(self.weights("parts"), self.weights("whole"))

    def test_sharded_optimizer(self):
        for name in nets.NETWORKS:
            with self.subTest(name):
                model, data = nets.write(self.folder, name)
                self.train(0, model, data, name, "--steps", "30", "--micro-batch", "4", "--validate", data)
                # Each run continues from the checkpoint of the one before.
                for ranks, steps, options in ((4, 11, ["--shard-optimizer"]), (2, 22, []), (2, 30, ["--shard-optimizer"])):
                    output = self.train(ranks, model, data, f"{name}s", "--steps", str(steps), "--micro-batch", "4",
                                      "--validate", data, "--resume", *options)
                self.assertEqual(self.weights(f"{name}s"), self.weights(name), output)

    def test_errors(self):
        model, data = nets.write(self.folder, "mlp")
        output = self.train(3, model, data, "out", status=1)
        expected = "error: 3 ranks cannot share a batch of 16 rows equally; 15 or 18 rows are possible [PDL0515]"
        self.assertEqual(output.count(expected), 1, output)
        output = self.train(2, model, data, "out", "--micro-batch", "3", status=1)
        self.assertIn("micro-batches of 3 rows do not divide the 8 rows that each of 2 ranks has of a batch", output)
        output = self.train(2, model, str(self.folder / "none.npz"), "out", status=1)
        self.assertEqual(output.count("none.npz"), 1, output)
        self.assertFalse((self.folder / "out").exists())

    @unittest.skipIf(LAUNCHER == "torchrun", "it starts one command")
    def test_other_data_at_one_rank(self):
        model, data = nets.write(self.folder, "mlp")
        other = self.folder / "other"
        other.mkdir()
        nets.write(other, "mlp", seed=2)
        start = launcher(1)
        options = [PDL, "train", model, "--out", str(self.folder / "out"), "--batch-size", "16", "--data"]
        done = subprocess.run(
            [*start, *options, data, ":", *start[-2:], *options, str(other / "mlp.npz")],
            capture_output=True, text=True, timeout=100)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the ranks do not agree: rank 1 differs from rank 0 in the data", done.stderr)

    def test_run_over_data(self):
        model, data = nets.write(self.folder, "encoder")
        Path(model).write_text(nets.NETWORKS["encoder"][0] + "output logits\n")
        options = [PDL, "run", model, "--data", data, "--threads", "1", "--batch-size", "10", "--output"]
        subprocess.run([*options, f"logits={self.folder}/one.npy"], check=True, timeout=100)
        for ranks in (1, 2, 3):
            subprocess.run([*launcher(ranks), *options, f"logits={self.folder}/{ranks}.npy"], check=True, timeout=100)
            self.assertEqual((self.folder / f"{ranks}.npy").read_bytes(), (self.folder / "one.npy").read_bytes())
        # Few ranks have rows, and one has the row that fails.
        Path(model).write_text("input x: f32[N]\nassert min(x) >= 0.0, \"x is positive\"\noutput y = x\n")
        rows = self.folder / "rows.csv"
        rows.write_text("x\n1\n2\n")
        done = subprocess.run([*launcher(4), PDL, "run", model, "--data", str(rows)], capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.stdout, "y: f32[2] = [1.0, 2.0]\n", done.stderr)
        rows.write_text("x\n1\n-2\n3\n")
        done = subprocess.run([*launcher(2), PDL, "run", model, "--data", str(rows)], capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{model}:2:8: error: rows 0 to 1 of {rows}: assert_true: x is positive [PDL0517]", done.stderr)

    def interrupt(self, signal_number, seed):
        """Sends the signal to a random rank at a random time; returns the launcher's status and output. With odd seeds,
        gradients are sent one by one."""
        choose = random.Random(seed)
        model, data = nets.write(self.folder, "mlp")
        arguments = ["--out", str(self.folder / "out"), "--overwrite", "--epochs", "100000", "--save-every", "5",
                     "--timeout", "3", "--quiet", "--ranks-log", str(self.folder / "logs"),
                     *(["--bucket", "1"] if seed % 2 else [])]
        process = subprocess.Popen(command(4, model, data, *arguments), stderr=subprocess.PIPE, text=True)
        last = self.folder / "out/last.safetensors"
        end = time.monotonic() + 60
        while not last.exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
        time.sleep(choose.random())
        pids = ranks_of(process.pid)
        self.assertEqual(len(pids), 4, process.poll())
        os.kill(choose.choice(pids), signal_number)
        try:
            output = process.communicate(timeout=60)[1]
        finally:
            for pid in ranks_of(process.pid):
                os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(process.returncode, 0, output)
        end = time.monotonic() + 10
        while any(map(is_alive, pids)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([pid for pid in pids if is_alive(pid)], [], output)
        return output, model, data

    def check_resumes(self, model, data):
        """The checkpoint is whole, and a run from it has the bits of one that was not disturbed."""
        steps = str(step_of(self.folder / "out/last.safetensors") + 10)
        self.train(2, model, data, "out", "--resume", "--steps", steps)
        self.train(0, model, data, "whole", "--overwrite", "--steps", steps, "--micro-batch", "4")
        self.assertEqual(self.weights("out"), self.weights("whole"))

    def test_killed_rank(self):
        for seed in range(int(os.environ.get("PDL_KILLS", "2"))):
            _, model, data = self.interrupt(signal.SIGKILL, seed)
            self.check_resumes(model, data)
            shutil.rmtree(self.folder / "out")

    def test_stopped_rank(self):
        for seed in range(int(os.environ.get("PDL_STOPS", "1"))):
            output, model, data = self.interrupt(signal.SIGSTOP, seed)
            expected = r"error: step \d+: ranks? [\d, ]+ did not answer within 3 s"
            self.assertRegex(output, expected)
            # The log of a rank ends with its error.
            ends = [json.loads((self.folder / f"logs/rank-{rank}.jsonl").read_text().splitlines()[-1]) for rank in range(4)]
            self.assertRegex(" ".join("error: " + end.get("error", "") for end in ends), expected)
            self.check_resumes(model, data)
            shutil.rmtree(self.folder / "out")

    def launched_by_hand(self, *options, program=PDL, **variables):
        """The output of a process whose environment looks as if a launcher had started it."""
        model, data = nets.write(self.folder, "mlp")
        done = subprocess.run([program, "train", model, "--data", data, "--out", str(self.folder / "out"), *options],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertFalse((self.folder / "out").exists())
        return done.stderr

    @unittest.skipUnless(LAUNCHER == "openmpi", "MPICH ends the process itself")
    def test_no_other_processes(self):
        output = self.launched_by_hand(OMPI_COMM_WORLD_SIZE="4")
        self.assertIn(
            "error: mpirun of Open MPI has started 4 processes, which cannot work together: MPI finds 1 of them: does "
            "the launcher belong to another MPI?", output)

    @unittest.skipUnless(LAUNCHER == "gloo", "Gloo's processes find each other by files")
    def test_rendezvous(self):
        folder = self.folder / "rendezvous"
        options = ["--rank", "0", "--world", "2", "--rendezvous", str(folder), "--timeout", "1"]
        output = self.launched_by_hand(*options)
        self.assertEqual(output, "error: the 2 processes of --world cannot work together: not all of them have joined "
                               "within 1.00 s\n")
        output = self.launched_by_hand(*options)
        self.assertIn(f"'{folder}/.pdl-rendezvous' has the file of another process with rank 0: each run needs a folder "
                      "of its own", output)
        output = self.launched_by_hand(*options, GLOO_SOCKET_IFNAME="none0", program=PDL)
        self.assertIn("cannot work together: ", output)

    @unittest.skipUnless(LAUNCHER == "gloo", "Gloo's processes find each other by files")
    def test_rendezvous_without_rank_0(self):
        begin = time.monotonic()
        output = self.launched_by_hand("--rank", "1", "--world", "2", "--rendezvous", str(self.folder / "alone"),
                                       "--timeout", "1")
        self.assertEqual(output, "error: the 2 processes of --world cannot work together: not all of them have joined "
                               "within 1.00 s\n")
        # Gloo itself waits for 30 s.
        self.assertLess(time.monotonic() - begin, 25)

    @unittest.skipUnless(LAUNCHER == "gloo", "torchrun's processes communicate by Gloo")
    def test_store_of_an_agent(self):
        agent = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_USE_AGENT_STORE": "True"}
        begin = "error: torchrun has started 2 processes, which cannot work together: "
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            port = str(server.getsockname()[1])
            output = self.launched_by_hand("--timeout", "1", MASTER_PORT=port, **agent)
            expected = f"{begin}cannot connect to the agent's store at 127.0.0.1:{port}: Connection refused\n"
            self.assertEqual(output, expected)
            server.listen()
            # It accepts the connection and never answers.
            output = self.launched_by_hand("--timeout", "1", MASTER_PORT=port, **agent)
            self.assertEqual(output, f"{begin}other processes did not join in time\n")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
            output = self.launched_by_hand("--timeout", "5", MASTER_PORT=port, **agent)
            self.assertIn(f"{begin}the agent's store", output)
        output = self.launched_by_hand("--timeout", "1", MASTER_PORT="1", **{**agent, "MASTER_ADDR": "no.such.invalid"})
        self.assertIn(f"{begin}'no.such.invalid' is not an address of a machine: ", output)

    def test_no_module(self):
        for part in ("bin/pdl", "lib/libpdl.so.0.1"):
            (self.folder / part).parent.mkdir(exist_ok=True)
            shutil.copy(Path(PDL).parent.parent / part, self.folder / part)
        program = str(self.folder / "bin/pdl")
        for variable, name, module in (("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI", "openmpi"),
                                       ("PMI_SIZE", "mpiexec of MPICH", "mpich")):
            output = self.launched_by_hand(program=program, **{variable: "2"})
            self.assertEqual(output, f"error: {name} has started 2 processes, which cannot work together: this build "
                                   f"has no libpdl_{module}.so\n")
        output = self.launched_by_hand("--rank", "0", "--world", "2", "--rendezvous", "none", program=program)
        self.assertEqual(output, "error: the 2 processes of --world cannot work together: this build has no "
                               "libpdl_gloo.so\n")


if __name__ == "__main__":
    library = "gloo" if LAUNCHER == "torchrun" else LAUNCHER
    module = Path(PDL).parent.parent / "lib" / f"libpdl_{library}.so"
    if shutil.which(launcher(1)[0]) is None or not module.exists():
        print(f"no {launcher(1)[0]}, or no {module}: skipped")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
