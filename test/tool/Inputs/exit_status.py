#!/usr/bin/env python3
"""exit_status.py STATUS COMMAND...: runs COMMAND; exits with 0 if COMMAND exits with STATUS, else with 1."""

import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command).returncode
if status != wanted:
    print(f"exit status {status}, wanted {wanted}", file=sys.stderr)
sys.exit(status != wanted)
