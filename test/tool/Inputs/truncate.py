#!/usr/bin/env python3
"""truncate.py FILE SIZE OUT: the first SIZE bytes of FILE."""

import sys

with open(sys.argv[1], "rb") as file, open(sys.argv[3], "wb") as out:
    out.write(file.read(int(sys.argv[2])))
