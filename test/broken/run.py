#!/usr/bin/env python3
"""Checks the broken files of this folder: the output for each NAME.pdl must be exactly NAME.expected.

    run.py --pdl PROGRAM [--update] [NAME...]

Each file has errors and is passed to `pdl check`; a first line `# RUN: ARGUMENTS` specifies another
command instead, in which %s is the file. The program must exit with status 1, and its diagnostics
must be those of NAME.expected: a line `line:column: severity: message [CODE]` for each, followed by its
notes as `  line:column: message` or `  message`. A location in another file begins with that file's name; a
message without a location is `severity: message [CODE]`. The report of `pdl test` precedes them.

All files together must produce every code that `pdl explain` lists, except those in UNREACHABLE.
--update writes the .expected files: review the changes.
"""

import argparse
import concurrent.futures
import difflib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))

# Codes that no file and no command line can produce, with the reason.
UNREACHABLE = {
    "PDL0507": "a C++ program's misuse of an operator; test/cc/runtime/operator_test.cc shows it",
    "PDL0509": "every operator has a kernel on the CPU; a plugin without one is needed",
    "PDL0510": "the command line refuses other devices first, with status 2; programs get this one",
    "PDL0513": "lists have no offsets, arrays in files do; test/tool/ragged.test shows it",
    "PDL0516": "needs the folder of another run; test/tool/train_mistakes.test shows it",
    "PDL0511": "needs somebody who presses Ctrl-C; the tests of the REPL do",
}

# ThreadSanitizer keeps each stack of an allocation, here a million of hundreds of calls each.
DEEP = {"limit_layers"} if "PDL_THREAD_SANITIZER" in os.environ else set()

# Of hundreds of short processes under AddressSanitizer, the search for leaks takes half of the time. The replay of fuzz
# targets looks for leaks in the same code.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def generated(folder):
    """Yields (name, path, expected) of files that are too large or too unusual for the repository."""
    head = "input x: f32[]\n"
    call = b"y = cos(x, scal=1.0)"
    contents = {
        "nested_parentheses": head + "y = " + "(" * 10_000 + "x" + ")" * 10_000 + "\noutput y\n",
        "nested_lists": head + "y = " + "[" * 10_000 + "]" * 10_000 + "\noutput y\n",
        "nested_calls": head + "y = " + "cos(" * 10_000 + "x" + ")" * 10_000 + "\noutput y\n",
        "nested_blocks": "if true {\n" * 10_000 + "}\n" * 10_000,
        "open_parentheses": head + "y = " + "(" * 10_000 + "x\noutput y\n",
        "long_line": f"input {'x' * 97}: f32[]\ny = " + ("x" * 97 + " + ") * 100_000 + "z\noutput y\n",
        "long_name": head + "y = " + "z" * 10_000_000 + "\noutput y\n",
        "long_text": head + 'y = "' + "z" * 10_000_000 + "\noutput x\n",
        "invalid_utf8": head.encode() + b'y = cos(x)  # \xff\noutput y\n',
        "windows_line_ends": b"input x: f32[]\r\n" + call + b"\r\noutput y\r\n",
        "byte_order_mark": b"\xef\xbb\xbfy = cos(x)\noutput y\n",
    }
    expected = {
        "nested_parentheses": "2:261: error: nesting deeper than 256 [PDL0003]",
        "nested_lists": "2:261: error: nesting deeper than 256 [PDL0003]",
        "nested_calls": "2:1032: error: nesting deeper than 256 [PDL0003]",
        "nested_blocks": "257:9: error: nesting deeper than 256 [PDL0003]",
        "open_parentheses": "2:261: error: nesting deeper than 256 [PDL0003]",
        "long_line": "2:10000005: error: no value is called 'z' [PDL0102]",
        "long_name": "2:5: error: no value is called '" + "z" * 60 + "...' [PDL0102]",
        "long_text": "2:5: error: the string that begins here has no closing '\"' on its line [PDL0002]",
        "invalid_utf8": "2:15: error: this byte is not valid UTF-8 [PDL0007]",
        "windows_line_ends": "2:12: error: 'cos' has no attribute or input 'scal'; did you mean 'scale'? [PDL0201]",
        "byte_order_mark": "1:9: error: no value is called 'x' [PDL0102]",
    }
    for name, text in contents.items():
        path = os.path.join(folder, name + ".pdl")
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        yield name, path, expected[name] + "\n"
    # A sparse file of 2 GiB, which takes no disk space and is not read.
    path = os.path.join(folder, "two_gibibytes.pdl")
    with open(path, "wb") as file:
        file.truncate(2**31 + 1)
    yield "two_gibibytes", path, "error: 'two_gibibytes.pdl' is longer than 2 GiB [PDL0012]\n"


def command_of(path):
    """The arguments in the file's first line, or those of `pdl check`."""
    with open(path, "rb") as file:
        first = file.readline(1000)
    name = os.path.basename(path)
    if not first.startswith(b"# RUN: "):
        return ["check", name]
    words = first.decode().removeprefix("# RUN: ").split()
    return [word.replace("%s", name) for word in words]


def place(entry, name):
    if "range" not in entry:
        return ""
    start = entry["range"]["start"]
    where = f"{start['line']}:{start['column']}: "
    return where if entry["file"] == name else f"{entry['file']}:{where}"


def show(line, name):
    diagnostic = json.loads(line)
    code = f" [{diagnostic['code']}]" if "code" in diagnostic else ""
    text = f"{place(diagnostic, name)}{diagnostic['severity']}: {diagnostic['message']}{code}\n"
    for note in diagnostic.get("notes", []):
        text += f"  {place(note, name)}{note['message']}\n"
    return text


def run(pdl, path):
    """The diagnostics of the file, and problems of the run: a wrong exit status or other output."""
    arguments = command_of(path)
    command = [pdl, arguments[0], "--diagnostics=json", *arguments[1:]]
    done = subprocess.run(command, cwd=os.path.dirname(path), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, env=ENVIRONMENT)
    problem = "" if done.returncode == 1 else f"exit status {done.returncode}, expected 1\n"
    text = ""
    if arguments[0] == "test":
        # The report of failed tests is on standard output; times are removed.
        text = re.sub(r"  \(\d+\.\d+ s\)", "", done.stdout.decode(errors="replace"))
    for line in done.stderr.decode(errors="replace").splitlines():
        if line.startswith("{"):
            text += show(line, os.path.basename(path))
        else:
            problem += f"other output: {line[:300]}\n"
    return text, problem


def difference(expected, actual):
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual",
                                 lineterm="", n=1)
    return "".join(line[:300] + "\n" for line in lines)


def codes_in(text):
    for line in text.splitlines():
        if line.endswith("]") and not line.startswith("  "):
            yield line[-8:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pdl", required=True, help="the program")
    parser.add_argument("--update", action="store_true", help="write the .expected files anew")
    parser.add_argument("names", nargs="*", help="only these files")
    arguments = parser.parse_args()
    pdl = os.path.abspath(arguments.pdl)
    failures, seen = [], set()

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count()) as pool:
        cases = []
        for path in sorted(glob.glob(FOLDER + "/*.pdl")):
            name = os.path.basename(path).removesuffix(".pdl")
            if name in DEEP:
                continue
            file = path.removesuffix(".pdl") + ".expected"
            expected = open(file, encoding="utf-8").read() if os.path.exists(file) else ""
            cases.append((name, path, expected, file))
        if not arguments.names:
            cases += [(*case, None) for case in generated(scratch)]
        elif unknown := set(arguments.names) - {case[0] for case in cases}:
            parser.error("no such files: " + ", ".join(sorted(unknown)))
        else:
            cases = [case for case in cases if case[0] in arguments.names]
        results = pool.map(lambda case: run(pdl, case[1]), cases)
        for (name, _, expected, file), (actual, problem) in zip(cases, results):
            seen.update(codes_in(actual))
            if not actual:
                problem += "it reported nothing\n"
            if arguments.update and file:
                with open(file, "w", encoding="utf-8") as out:
                    out.write(actual)
            elif actual != expected:
                problem += difference(expected, actual)
            if problem:
                failures.append(f"{name}.pdl:\n{problem}")
    if not arguments.names:
        for path in glob.glob(FOLDER + "/*.expected"):
            if not os.path.exists(path.removesuffix(".expected") + ".pdl"):
                failures.append(f"{os.path.basename(path)} has no .pdl\n")
        listed = subprocess.run([pdl, "explain"], capture_output=True, check=True, text=True)
        known = {line.split()[0] for line in listed.stdout.splitlines()}
        for code in sorted(known - seen - UNREACHABLE.keys()):
            failures.append(f"{code} occurs in no file\n")
        for code in sorted(UNREACHABLE.keys() & seen):
            failures.append(f"{code} occurs in a file, but is listed as UNREACHABLE\n")
        for code in sorted(UNREACHABLE.keys() - known):
            failures.append(f"{code} is listed as UNREACHABLE, but `pdl explain` does not know it\n")
    print("".join(failures[:50]), end="")
    print(f"{len(cases)} broken files, {len(seen)} codes, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
