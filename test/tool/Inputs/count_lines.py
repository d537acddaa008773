"""count_lines.py LIMIT FILE: fails if the file has more lines."""

import sys

most, path = int(sys.argv[1]), sys.argv[2]
with open(path) as file:
    count = sum(1 for _ in file)
if count > most:
    sys.exit(f"{path} has {count} lines, more than {most}")
