#!/usr/bin/env python3
"""Lets allocations of pdl fail, one after the other.

    allocations.py PDL LIBRARY [--sample=N] [--jobs=N] [--verbose]

Commands are run for six networks: check, run, compile, export and one training step. A run without faults lists the
call sites of allocations; a site that an earlier command has is left out. For each site, the command is
run twice more: the first allocation of the site fails, and it and all later ones do. --sample=N takes N sites of each
command at random, always the same ones. README.md has the requirements.
"""

import collections
import os
import random
import subprocess
import sys

import common

NEVER = str(2**62)
# Messages of the C++ library if memory runs out before main.
ABORTS = ("bad_alloc", "terminate called without an active exception")


def commands(name):
    weights = f"--weights={name}.run/last.safetensors"
    yield ["check", f"{name}.pdl"]
    yield ["run", f"{name}.pdl", weights, "--input=x=random", "--input=t=[0, 1, 2]", "--size=N=3", "--output=best",
           "--threads=1"]
    yield ["run", f"{name}.pdlc", "--input=x=random", "--input=t=[0, 1, 2]", "--size=N=3", "--output=best",
           "--threads=1"]
    yield ["compile", f"{name}.pdl", weights, f"--output={name}.pdlc"]
    yield ["train", f"{name}.pdl", "--data=data.csv", f"--out={name}.run", "--resume", "--epochs=2", "--quiet",
           "--threads=1"]


def record(workplace, library, command):
    """The sites of a command: (number, phase, hash, frames)."""
    path = workplace.folder / "sites"
    workplace.must(command, LD_PRELOAD=library, FAULT_RECORD=str(path))
    sites = []
    for line in path.read_text().splitlines():
        number, phase, site, *frames = line.split()
        sites.append((number, phase, site, frames))
    path.unlink()
    workplace.restore()
    return sites


def check(done, phase, frames, expected, after):
    """What is wrong with the result of a command; an empty list if nothing is."""
    workplace = common.worker
    if done is None:
        return ["does not end"]
    bad = []
    if done.returncode == 0:
        if done.stdout != expected:
            bad.append("other results")
        if workplace.files() != after:
            bad.append("other files")
    elif done.returncode == 3:
        if "memory" not in done.stderr:
            bad.append("no message about memory")
    elif not (done.returncode == -6 and phase == "startup" and any(each in done.stderr for each in ABORTS)):
        bad.append(f"status {done.returncode}")
    return bad + workplace.damaged(after, may_leave_temporary=done.returncode < 0)


def try_site(task):
    """Runs a command with a site that fails; returns the outcomes and what is wrong."""
    library, command, expected, after, (number, phase, _, frames) = task
    results = []
    for until in (number, NEVER):
        try:
            done = common.worker.run(command, LD_PRELOAD=library, FAULT_AT=number, FAULT_UNTIL=until)
        except subprocess.TimeoutExpired:
            done = None
        bad = check(done, phase, frames, expected, after)
        common.worker.restore()
        status = "none" if done is None else done.returncode
        stderr = "" if done is None else done.stderr
        results.append((until != number, status, bad, stderr))
    return command, number, phase, frames, results


def symbols(pdl, frames):
    """The functions of frames, innermost first."""
    lines = []
    for frame in frames:
        module, _, offset = frame.rpartition("+")
        module = pdl if module == "program" else module
        done = subprocess.run(["llvm-symbolizer-19", "--functions", "--inlines", f"--obj={module}", offset],
                              capture_output=True, text=True, check=False)
        lines.append(f"{os.path.basename(module)}: " + " < ".join(done.stdout.split("\n")[:-2:2])[:200])
    return lines


def known_exception(status, stderr, frames):
    """The library that may end the process in its own way, as docs/reliability.md lists: "" if there is none."""
    # oneDNN 2.6 does not check all of its own allocations. The innermost function may be a template of the C++
    # library that libpdl has, too.
    if status in (-6, -11) and any("libdnnl" in frame for frame in frames[:2]):
        return "in oneDNN"
    # OpenMP ends the process.
    if status == 1 and "libgomp" in frames[0] and "libgomp: Out of memory" in stderr:
        return "in OpenMP"
    return ""


def main():
    options = common.parse_arguments()

    common.start_worker(options.pdl)
    tasks, seen = [], set()
    chosen = random.Random(1)
    for name in options.networks.split(","):
        for command in commands(name):
            expected, after = common.worker.expected(command)
            sites = [site for site in record(common.worker, options.library, command) if site[2] not in seen]
            if options.sample:
                sites = chosen.sample(sites, min(options.sample, len(sites)))
            seen.update(site[2] for site in sites)
            tasks += [(options.library, command, expected, after, site) for site in sites]
            if options.verbose:
                print(f"{len(sites):6} sites of {' '.join(command)}", flush=True)
    statuses, failures = collections.Counter(), collections.defaultdict(list)
    for command, number, phase, frames, results in common.in_parallel(options.pdl, options.jobs, try_site, tasks):
        for later_too, status, bad, stderr in results:
            known = known_exception(status, stderr, frames)
            statuses[status, known or phase] += 1
            if bad and not known:
                key = (tuple(bad), stderr.strip()[-160:], tuple(frames[:3]))
                failures[key].append((command, number, later_too, frames))
    for (bad, stderr, _), sites in sorted(failures.items(), key=lambda item: -len(item[1])):
        command, number, later_too, frames = sites[0]
        print(f"{'; '.join(bad)} ({len(sites)} times): FAULT_AT={number} FAULT_UNTIL={NEVER if later_too else number} "
              f"pdl {' '.join(command)}\n  {stderr!r}")
        for line in symbols(options.pdl, frames):
            print(f"    {line}")
    for (status, phase), count in sorted(statuses.items(), key=str):
        print(f"{count:6} ended with status {status} ({phase})")
    print(f"{len(tasks)} sites, {sum(map(len, failures.values()))} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
