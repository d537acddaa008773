#!/usr/bin/env python3
"""bounded.py SECONDS MIB STATUS COMMAND...: runs COMMAND with limited time and address space. Exits with 0 if COMMAND
exits with STATUS, else with 1. STATUS `any` is 0 to 3: anything but a signal."""

import os
import resource
import subprocess
import sys

seconds, mib, wanted, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]


def limit():
    if "PDL_NO_ADDRESS_LIMIT" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


try:
    status = subprocess.run(command, preexec_fn=limit, timeout=seconds).returncode
except subprocess.TimeoutExpired:
    sys.exit(f"no end after {seconds} s")
accepted = range(4) if wanted == "any" else [int(wanted)]
if status not in accepted:
    sys.exit(f"exit status {status}, expected {wanted}" + (" (a signal)" if status < 0 else ""))
