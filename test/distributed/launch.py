#!/usr/bin/env python3
"""Starts processes that train together without a launcher, in the way of mpirun:

launch.py -n RANKS COMMAND… [: -n RANKS COMMAND…]…

Each command gets --rank, --world and --rendezvous. When a process fails, the others have ten seconds to end. The exit
status is that of the first one that failed, or 0."""

import itertools
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
    ranks = list(commands(sys.argv[1:]))
    folder = tempfile.mkdtemp(prefix="pdl-test-")
    try:
        processes = [
            subprocess.Popen([*command, "--rank", str(rank), "--world", str(len(ranks)), "--rendezvous", folder])
            for rank, command in enumerate(ranks)
        ]
        status, end = 0, None
        while any(process.poll() is None for process in processes):
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
