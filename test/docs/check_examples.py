#!/usr/bin/env python3
"""Runs the examples of a Markdown page.

    check_examples.py --pdl PROGRAM PAGE

The info string of a fenced block describes its contents:

    pdl            `pdl check` accepts it
    pdl error      `pdl check` rejects it with exactly the output in the `text` block that follows
    pdl test       `pdl check` accepts it, and `pdl test` passes
    pdl file=NAME  as `pdl`, and later blocks of the page can import it by this name
    pdl later …    skipped: requires a feature that is not implemented yet
    csv file=NAME  a table that commands of the page can read by this name
    console        lines that begin with `$ pdl` are run in the folder of the last example, which is the file
                   model.pdl; each is followed by exactly its output, in which `...` matches anything within a
                   line, or if it is a line of its own, any lines

A comment `<!-- before: … -->` before a block has lines that are inserted before the block's lines.
"""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^<!-- before:\n(?P<before>.*?)^-->\n)?^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)


class Page:
    def __init__(self, pdl, folder):
        self.pdl, self.folder = pdl, folder
        self.failures, self.run_count, self.skipped = [], 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        done = subprocess.run([self.pdl, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        return done.returncode, done.stdout.decode()

    def fail(self, line, message):
        self.failures.append(f"line {line}: {message}")

    def compare(self, line, expected, actual):
        pattern = "".join(r"(?:.*\n)*" if part == "...\n" else re.escape(part).replace(r"\.\.\.", ".*")
                          for part in expected.splitlines(keepends=True))
        if not re.fullmatch(pattern, actual):
            lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "page", "pdl", lineterm="")
            self.fail(line, "\n".join(lines) + "\n")

    def example(self, line, words, text, answer):
        if "later" in words:
            self.skipped += 1
            return
        self.run_count += 1
        name = next((word[5:] for word in words if word.startswith("file=")), "model.pdl")
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        status, said = self.run("check", name)
        if "error" in words:
            if status != 1:
                self.fail(line, f"'pdl check' ended with {status}, and a mistake is expected\n{said}")
            elif answer is None:
                self.fail(line, f"no ```text block follows; pdl says\n{said}")
            else:
                self.compare(line, answer, said)
        elif status != 0 or said:
            self.fail(line, f"'pdl check' ended with {status}:\n{said}")
        elif "test" in words:
            status, said = self.run("test", name)
            if status != 0:
                self.fail(line, f"'pdl test' ended with {status}:\n{said}")

    def console(self, line, text):
        self.run_count += 1
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, expected = part.split("\n", 1)
            words = shlex.split(command)
            if words[0] != "pdl":
                self.fail(line, f"only pdl is run, not '{command}'\n")
                continue
            _, said = self.run(*words[1:])
            self.compare(line, expected, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pdl", required=True, help="the program")
    parser.add_argument("page")
    arguments = parser.parse_args()
    with open(arguments.page, encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        state = Page(os.path.abspath(arguments.pdl), folder)
        blocks = list(BLOCK.finditer(page))
        for index, block in enumerate(blocks):
            words = block["info"].split()
            line = page.count("\n", 0, block.start("info")) + 1
            if words[:1] == ["pdl"]:
                following = blocks[index + 1] if index + 1 < len(blocks) else None
                is_answer = following is not None and following["info"].strip() == "text"
                text = (block["before"] or "") + block["text"]
                state.example(line, words[1:], text, following["text"] if is_answer else None)
            elif words[:1] == ["csv"]:
                with open(state.path(words[1].removeprefix("file=")), "w", encoding="utf-8") as table:
                    table.write(block["text"])
            elif words == ["console"]:
                state.console(line, block["text"])
            elif words[:1] not in (["text"], ["ebnf"], ["sh"]):
                state.fail(line, f"what is a block '{block['info']}'?\n")
        for failure in state.failures:
            print(failure, end="" if failure.endswith("\n") else "\n")
        print(f"{state.run_count} examples run, {state.skipped} skipped, {len(state.failures)} failures")
        return 1 if state.failures else 0


if __name__ == "__main__":
    sys.exit(main())
