#!/usr/bin/env python3
"""unused.py FILE: prints the names of values in emitted source that no other line uses."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line for line in file.read().splitlines() if not line.startswith("#")]
given, read = [], set()
for line in lines:
    targets, is_assignment, rest = re.match(r"(?:([^=(]*[^=(\s])(\s*=\s*))?(.*)", line).groups()
    words = re.findall(r"[A-Za-z_][\w.]*", rest)
    if is_assignment and not targets.startswith(("output ", "update ", "param ", "state ")):
        given += [name.strip() for name in targets.split(",")]
    read.update(words)
print("unused:", " ".join(name for name in given if name not in read) or "none")
