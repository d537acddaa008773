#!/usr/bin/env python3
"""Makes a Jupyter notebook of a section of a Markdown page.

    make_notebook.py PAGE SECTION FILE.ipynb

The text becomes Markdown cells. Each example becomes a cell for the kernel pdl that begins with `:reset`, followed by
one with `:view`; examples with errors are marked `raises-exception`, so that a notebook continues after them. Files
that examples import are written next to the notebook. The info strings of blocks are those of check_examples.py.
"""

import json
import pathlib
import re
import sys

from check_examples import BLOCK


def section_of(page, title):
    """The text below a heading, up to the next heading of its level."""
    found = re.search(rf"^# {re.escape(title)}\n(.*?)(?=^# (?!#)|\Z)", mask_blocks(page), re.M | re.S)
    if not found:
        raise SystemExit(f"no section '{title}'")
    return page[found.start(1):found.end(1)]


def mask_blocks(page):
    """The page with blocks replaced by spaces: a comment in an example is no heading."""
    return BLOCK.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), page)


def cells_of(text, folder):
    end = 0
    for block in BLOCK.finditer(text):
        words = block["info"].split()
        if words[:1] != ["pdl"] or "later" in words:
            continue
        yield markdown(text[end:block.start()])
        end = block.end()
        source = (block["before"] or "") + block["text"]
        for word in words:
            if word.startswith("file="):
                (folder / word[5:]).write_text(source, encoding="utf-8")
        is_error = "error" in words
        yield code(":reset\n" + source, ["raises-exception"] if is_error else [])
        if not is_error:
            yield code(":view", [])
    yield markdown(text[end:])


def markdown(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip()}


def code(source, tags):
    return {"cell_type": "code", "metadata": {"tags": tags}, "source": source.rstrip("\n"), "outputs": [],
            "execution_count": None}


def main():
    if len(sys.argv) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    page, out = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), pathlib.Path(sys.argv[3])
    cells = [cell for cell in cells_of(section_of(page, sys.argv[2]), out.parent) if cell["source"]]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell{number}"
    notebook = {"nbformat": 4, "nbformat_minor": 5, "cells": cells,
                "metadata": {"kernelspec": {"name": "pdl", "display_name": "pdl", "language": "pdl"}}}
    out.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
