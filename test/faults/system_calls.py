#!/usr/bin/env python3
"""Lets system calls of pdl on files fail, one after the other.

    system_calls.py PDL LIBRARY [--sample=N] [--jobs=N] [--verbose]

Training with checkpoints, resuming, compile, export, import and run are recorded, and then run once more for each
system call on a file and each fault that it may have. --sample=N takes N of them of each command at random, always
the same ones. README.md has the requirements.
"""

import collections
import errno
import os
import random
import subprocess
import sys
import tempfile

import common

READS = {"read", "readv", "pread64"}
WRITES = {"write", "writev", "pwrite64"}
OPENS = {"open", "openat", "creat"}
SLOW = READS | WRITES | OPENS | {"close", "fsync", "fdatasync", "ftruncate", "fallocate", "flock"}
STORES = {"ftruncate", "fallocate", "fsync", "fdatasync", "rename", "renameat", "renameat2", "mkdir", "mkdirat"} | WRITES
# If these fail, nothing was stored.
NEEDED = {"fsync", "fdatasync", "rename", "renameat", "renameat2"} | WRITES
SHORT = 0


def commands(name):
    weights = f"--weights={name}.run/last.safetensors"
    yield ["train", f"{name}.pdl", "--data=data.csv", f"--out={name}.new", "--epochs=2", "--save-every=1", "--quiet",
           "--threads=1"]
    yield ["train", f"{name}.pdl", "--data=data.csv", f"--out={name}.run", "--resume", "--epochs=2", "--quiet",
           "--threads=1"]
    yield ["compile", f"{name}.pdl", weights, f"--output={name}.pdlc"]
    yield ["compile", f"{name}.pdl", weights, f"--output=other/{name}.pdlc"]
    yield ["run", f"{name}.pdlc", "--input=x=random", "--input=t=[0, 1, 2]", "--size=N=3", "--output=best=best.npy",
           "--threads=1"]

    if name in common.EXPORTED:
        yield ["export", f"{name}.pdl", weights, f"--output={name}.onnx"]
        yield ["export", f"{name}.pdl", weights, "--external-data", f"--output={name}.onnx"]
        yield ["import", f"{name}.onnx", f"--output=other/{name}.pdl"]


def faults(call):
    """The error numbers that a system call may have on a file, and SHORT: it transfers one byte."""
    yield errno.EIO
    if call in SLOW:
        yield errno.EINTR
    if call in STORES | OPENS:
        yield errno.ENOSPC
    if call in READS | WRITES:
        yield SHORT
    if call in OPENS or call.endswith(("stat", "statx", "rename", "unlink", "access")):
        yield errno.EACCES
    if call == "mmap":
        yield errno.ENOMEM


def record(workplace, library, command):
    """The system calls of a command: (number, name, file)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "calls")
        workplace.must(command, LD_PRELOAD=library, FAULT_RECORD=path, FAULT_FOLDER=str(workplace.folder))
        workplace.restore()
        calls = [line.rstrip("\n").split(" ", 2) for line in open(path)]
    return [(number, call, os.path.relpath(os.path.join(workplace.folder, file), workplace.folder))
            for number, call, file in calls]


def names(file, message):
    """Whether the message names the file, or a file of the folder. A temporary file has the name of the file that it
    replaces, and the names of event files contain the time."""
    if os.path.isdir(common.worker.folder / file):
        return "cannot" in message and "'" in message
    name = os.path.basename(file)
    if name.endswith(".tmp"):
        name = name.removesuffix(".tmp").rpartition(".")[0]
    return ("tfevents" if "tfevents" in name else name) in message


def continued(command, after):
    """What is wrong when a command that failed is run again: training continues, with the same result."""
    again = command if command[0] != "train" or "--resume" in command else [*command, "--resume"]
    done = common.worker.run(again)
    if done.returncode != 0:
        return [f"again: status {done.returncode}, {done.stderr.strip()[-200:]}"]
    files = common.worker.files()
    # The curve lacks steps whose lines were not written.
    return [f"again: other {name}" for name in after.keys() | files.keys()
            if after.get(name) != files.get(name) and not name.endswith(".svg")]


def check(done, command, call, file, error, expected, after):
    """What is wrong with the result of a command; an empty list if nothing is."""
    workplace = common.worker
    if done is None:
        return ["does not end"]
    bad = []
    if done.returncode == 0:
        if error not in (SHORT, errno.EINTR) and call in NEEDED:
            bad.append("the failure is ignored")
        if done.stdout != expected:
            bad.append("other results")
        bad += [f"other {name}" for name, content in workplace.files().items() if after.get(name) != content]
    elif error in (SHORT, errno.EINTR):
        bad.append(f"status {done.returncode}, though the call may be continued")
    elif done.returncode in (1, 3):
        if not names(file, done.stderr):
            bad.append("the message does not name the file")
        if os.strerror(error) not in done.stderr:
            bad.append("the message does not have the reason")
    else:
        bad.append(f"status {done.returncode}")
    bad += workplace.damaged(after, may_leave_temporary=call in ("unlink", "unlinkat"))
    return bad if done.returncode == 0 else bad + continued(command, after)


def try_call(task):
    """Runs a command with a system call that fails; returns what is wrong."""
    library, command, expected, after, (number, call, file), error = task
    try:
        done = common.worker.run(command, LD_PRELOAD=library, FAULT_FOLDER=str(common.worker.folder), FAULT_AT=number,
                                 FAULT_ERROR=str(error))
    except subprocess.TimeoutExpired:
        done = None
    bad = check(done, command, call, file, error, expected, after)
    common.worker.restore()
    return command, number, call, file, error, bad, done


def main():
    options = common.parse_arguments()

    common.start_worker(options.pdl)
    tasks, total = [], collections.Counter()
    chosen = random.Random(1)
    for name in options.networks.split(","):
        for command in commands(name):
            expected, after = common.worker.expected(command)
            calls = record(common.worker, options.library, command)
            new = [(library_call, error) for library_call in calls for error in faults(library_call[1])]
            if options.verbose:
                print(f"{len(calls):5} system calls, {len(new):5} faults: {' '.join(command)}", flush=True)
            if options.sample:
                new = chosen.sample(new, min(options.sample, len(new)))
            total.update(call[1] for call, _ in new)
            tasks += [(options.library, command, expected, after, call, error) for call, error in new]
    statuses, failures = collections.Counter(), collections.defaultdict(list)
    for command, number, call, file, error, bad, done in common.in_parallel(options.pdl, options.jobs, try_call, tasks):
        statuses["none" if done is None else done.returncode] += 1
        if bad:
            reason = errno.errorcode.get(error, "short")
            failures[command[0], call, reason, tuple(bad)].append((command, number, file, done))
    for (_, call, reason, bad), found in sorted(failures.items(), key=lambda item: -len(item[1])):
        command, number, file, done = found[0]
        print(f"{call} {reason} ({len(found)} times): {'; '.join(bad)}\n  call {number} of pdl {' '.join(command)}\n"
              f"  on {file}: status {done and done.returncode}, {done and done.stderr.strip()[-300:]!r}")
    for status, count in sorted(statuses.items(), key=str):
        print(f"{count:6} ended with status {status}")
    print("system calls: " + ", ".join(f"{count} {call}" for call, count in total.most_common()))
    print(f"{len(tasks)} faults, {sum(map(len, failures.values()))} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
