#!/usr/bin/env python3
"""Starts processes that train together without a launcher, in the way of mpirun:

launch.py [--prefix PREFIX]… -n RANKS COMMAND… [: -n RANKS COMMAND…]…

Rank R runs on host R modulo the number of prefixes: a prefix is what a command there begins with. Each command gets --rank, --world and --rendezvous. When a process fails, the others have ten seconds to end. The exit
status is that of the first one that failed, or 0."""

import itertools
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

GRACE = 10


def commands(arguments):
    """The command of each rank."""
    for is_separator, part in itertools.groupby(arguments, ":".__eq__):
        if not is_separator:
            _, count, *command = part
            yield from [command] * int(count)


def main():
    arguments, prefixes = sys.argv[1:], []
    while arguments[0] == "--prefix":
        prefixes.append(shlex.split(arguments[1]))
        arguments = arguments[2:]
    prefix = itertools.cycle(prefixes or [[]])
    ranks = [[*next(prefix), *command] for command in commands(arguments)]
    folder = tempfile.mkdtemp(prefix="pdl-test-")
    try:
        processes = [
            subprocess.Popen([*command, "--rank", str(rank), "--world", str(len(ranks)), "--rendezvous", folder])
            for rank, command in enumerate(ranks)
        ]
        status, end = 0, None
        while None in [process.poll() for process in processes]:
            failed = [process.returncode for process in processes if process.returncode]
            if failed and end is None:
                status, end = failed[0], time.monotonic() + GRACE
            if end is not None and time.monotonic() > end:
                for process in processes:
                    process.kill()
            time.sleep(0.02)
        return status or next((process.returncode for process in processes if process.returncode), 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(abs(main()))
