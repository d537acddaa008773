#!/usr/bin/env python3
"""Checks the links of the Markdown pages of this repository.

    check_links.py ROOT

A link to a file must lead to a file or folder, and one with an anchor to a heading, as GitHub names them: if several
headings have one name, that of the second ends in -1, and so on. Prints each broken link with its place, and exits
with status 1 if there is one.
"""

import collections
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"(?<!!)\[(?:[^][]|\[[^][]*\])*\]\(([^()\s]+(?:\([^()\s]*\))?[^()\s]*)\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
CODE = re.compile(r"(`+)(?:(?!\1).)*?\1(?!`)")


def lines_outside_code(lines):
    """The lines with their numbers, without fenced blocks."""
    fence = None
    for number, line in enumerate(lines, 1):
        marker = re.match(r"\s*(```+|~~~+)", line)
        if marker and fence is None:
            fence = marker[1]
        elif marker and marker[1].startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def anchor_of(heading):
    """GitHub's name for a heading, before names that occur several times are numbered."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(lines):
    """The level, the title and the anchor of each heading of a page."""
    counts = collections.Counter()
    for _, line in lines_outside_code(lines):
        if match := HEADING.match(line):
            name = anchor_of(match[2])
            yield len(match[1]), match[2], f"{name}-{counts[name]}" if counts[name] else name
            counts[name] += 1


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = sorted(page for page in root.rglob("*.md")
                   if not any(part.startswith(".") or part == "build" for part in page.relative_to(root).parts))
    texts = {page: page.read_text().splitlines() for page in pages}
    anchors = {page: {anchor for _, _, anchor in headings(lines)} for page, lines in texts.items()}
    wrong = links = 0
    for page, lines in texts.items():
        for number, line in lines_outside_code(lines):
            for match in LINK.finditer(CODE.sub(lambda code: "`" * len(code[0]), line)):
                if re.match(r"[a-z]+:", match[1]):
                    continue
                links += 1
                path, _, anchor = urllib.parse.unquote(match[1]).partition("#")
                target = (page.parent / path).resolve() if path else page
                problem = None
                if not target.exists():
                    problem = "there is no such file"
                elif anchor and target not in anchors:
                    problem = "only pages have anchors"
                elif anchor and anchor not in anchors[target]:
                    problem = "there is no such heading"
                if problem:
                    wrong += 1
                    print(f"{page.relative_to(root)}:{number}: {match[1]}: {problem}")
    print(f"{links} links in {len(pages)} pages, {wrong} broken")
    return 1 if wrong or not links else 0


if __name__ == "__main__":
    sys.exit(main())
