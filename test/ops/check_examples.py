#!/usr/bin/env python3
"""check_examples.py PDL: runs the examples in the declarations of operators.

An example is a statement or several; `NAME = …  # = VALUE` is what the name must be near. One with
inputs is checked, not run. Every operator must have one that calls it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

# Operators that source cannot call, with the reason.
NOT_WRITTEN = {"data_size": "its symbol is new; the calls that become it name it"}


def main():
    pdl = sys.argv[1]
    ops = json.loads(subprocess.run([pdl, "ops", "--format=json"], check=True, capture_output=True,
                                    text=True).stdout)["ops"]
    tests, wrong = [], []
    for op in ops:
        name, examples = op["type"], op.get("examples", [])
        if name not in NOT_WRITTEN and not any(re.search(rf"\b{name}\(", example) for example in examples):
            wrong.append(f"{name} has no example of its own: AddExample")
        for example in examples:
            if re.search(r"^input ", example, re.MULTILINE):
                if subprocess.run([pdl, "check", "-"], input=example, text=True).returncode:
                    wrong.append(f"{name}: its example is wrong:\n{example}")
                continue
            lines = []
            for line in example.splitlines():
                code, mark, value = line.partition("  # = ")
                lines.append(code)
                if mark:
                    target = re.match(r"\w+", code).group()
                    lines.append(f"expect {target} ~= {value} tol 1e-5")
            body = "\n  ".join(lines)
            tests.append(f'test "{name}" {{\n  {body}\n}}\n')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "examples.pdl")
        with open(path, "w") as file:
            file.write("\n".join(tests))
        failed = subprocess.run([pdl, "test", path]).returncode
    for line in wrong:
        print(line)
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
