"""What the tests of faults share: networks, their data, and commands that are run under a fault."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

NETWORKS = ["dense", "convolution", "attention", "recurrent", "ragged", "imported"]
EXPORTED = NETWORKS[:-1]  # ONNX models have no states
SOURCES = pathlib.Path(__file__).parent / "networks"
ROWS = 4
SECONDS = 120  # a run takes less than one
# Files that are appended to while they are in use. All others are replaced at once.
LOGS = ("metrics.jsonl", ".lock")


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl", type=os.path.abspath)
    parser.add_argument("library", type=os.path.abspath)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def write_data(path):
    """A table for the inputs of all networks."""
    numbers = random.Random(1)
    with open(path, "w") as file:
        print(*[f"x[{i}]" for i in range(16)], "t", sep=",", file=file)
        for row in range(ROWS):
            print(*[f"{numbers.uniform(-1, 1):.3f}" for _ in range(16)], row % 3, sep=",", file=file)


class Workplace:
    """A folder with the networks, their data, and the results of a first training step of each."""

    def __init__(self, pdl, folder):
        self.pdl = pdl
        self.folder = pathlib.Path(folder)
        for source in SOURCES.iterdir():
            shutil.copy(source, self.folder)
        write_data(self.folder / "data.csv")
        for name in NETWORKS:
            self.must(["train", f"{name}.pdl", "--data=data.csv", f"--batch-size={ROWS}", "--steps=1",
                       f"--out={name}.run", "-q"])
            weights = f"--weights={name}.run/last.safetensors"
            self.must(["compile", f"{name}.pdl", weights, f"--output={name}.pdlc"])
            if name in EXPORTED:
                self.must(["export", f"{name}.pdl", weights, "--external-data",
                           f"--output={name}.onnx"])
        (self.folder / "other").mkdir()
        self.before = self.files()
        self.everything = self.files(with_logs=True)

    def run(self, command, **environment):
        """Runs pdl. Memory is filled with a byte when it is allocated and freed, and not cleared by chance."""
        return subprocess.run([self.pdl, *command], cwd=self.folder, capture_output=True, text=True, errors="replace",
                              env={**os.environ, "MALLOC_PERTURB_": "165", **environment}, timeout=SECONDS)

    def must(self, command, **environment):
        done = self.run(command, **environment)
        if done.returncode != 0:
            raise SystemExit(f"pdl {' '.join(command)}: status {done.returncode}\n{done.stderr}")
        return done

    def files(self, with_logs=False):
        """The bytes of each file by its path in the folder."""
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*")
                if path.is_file() and (with_logs or (path.name not in LOGS and "tfevents" not in path.name))}

    def expected(self, command):
        """Runs the command without a fault: its output, and the files after it."""
        done = self.must(command)
        after = self.files()
        self.restore()
        return done.stdout, after

    def keep(self, name, content):
        """Adds a file."""
        (self.folder / name).write_bytes(content)
        self.before[name] = self.everything[name] = content

    def restore(self):
        """The folder has the files that it had at first, and no others."""
        after = self.files(with_logs=True)
        for name in after.keys() - self.everything.keys():
            (self.folder / name).unlink()
        for name, content in self.everything.items():
            if after.get(name) != content:
                (self.folder / name).write_bytes(content)
        for path in self.folder.glob("*.new"):
            path.rmdir()

    def damaged(self, after, may_leave_temporary):
        """The files that are neither as before, nor as in `after`, nor a complete checkpoint of another step."""
        now = self.files()
        bad = [f"{name} is lost" for name in self.before if name not in now]
        for name, content in now.items():
            if content in (self.before.get(name), after.get(name)) or (may_leave_temporary and name.endswith(".tmp")):
                continue
            is_of_training = os.path.dirname(name).endswith((".new", ".run"))
            if not (is_of_training and is_complete(name, content)):
                bad.append(f"{name} is neither as before nor complete")
        return bad


def is_complete(name, content):
    """Whether a file of a training run ends where it should."""
    if name.endswith(".svg"):
        return content.endswith(b"</svg>\n")
    if not name.endswith(".safetensors"):
        return False
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    ends = [tensor["data_offsets"][1] for tensor_name, tensor in header.items() if tensor_name != "__metadata__"]
    return len(content) == 8 + size + max(ends)


worker = None  # the Workplace of this process
folders = []  # until the process ends; a process of the pool also has that of its parent


def start_worker(pdl):
    global worker
    folders.append(tempfile.TemporaryDirectory(prefix="pdl-faults-"))
    worker = Workplace(pdl, folders[-1].name)


def in_parallel(pdl, jobs, function, tasks):
    """The results of function(task), in which `worker` is a Workplace, in the order of the tasks."""
    with concurrent.futures.ProcessPoolExecutor(jobs, initializer=start_worker, initargs=(pdl,)) as pool:
        yield from pool.map(function, tasks, chunksize=1)
