#!/usr/bin/env python3
r"""Checks that comments, messages and pages of this repository use the terms of the field.

    words.py ROOT [FILE…]

Reads all files of ROOT for which READERS has an entry, or only the files given, and prints a line

    FILE:LINE: PHRASE -> TERM TO USE INSTEAD

for each phrase of PHRASES in their prose. Exits with 1 if there is any, or if an entry of ALLOWED is not needed.
"""

import bisect
import os
import pathlib
import re
import sys

# Regular expressions, matched as complete words without regard to case, and the term to use instead. A space
# also matches a line break; in lookbehind assertions, use \s.
PHRASES = [
    # Errors and messages.
    (r"mistakes?", "error"),
    (r"tells?|told", "reports, states, shows"),
    (r"wants?|wanted", "requires, expects, accepts"),
    (r"complain(?:s|ed|ing)?", "reports"),
    (r"refus(?:e|es|ed|al|ing)", "rejects"),
    (r"strangers?", "untrusted input"),
    # Where something is.
    (r"lies?(?! down)|lay(?! out)", "is stored, is, falls"),
    (r"stands?(?! for)|stood", "appears, is, is written"),
    (r"beside", "next to, together with"),
    (r"behind", "after"),
    (r"(?<!in[\s-])places?", "position, index, location"),
    (r"rooms?", "module"),
    (r"inside of", "inside"),
    # How much of something.
    (r"(?:by|on|for) (?:it|them)sel(?:f|ves)", "individually, automatically"),
    (r"alone", "only, on its own"),
    (r"whole(?! numbers?)", "complete, all of"),
    (r"counts? of", "number of"),
    (r"that there (?:is|are)", "existing"),
    (r"as ever", "as usual"),
    # Values and computations.
    (r"next values?", "new value"),
    (r"first values", "initial values"),
    (r"halves(?! the)", "reduced precision, f16/bf16"),
    (r"matrix products?|products? of (?:two )?matrices", "matmul"),
    (r"add(?:s|ed|ing)? up", "sums, accumulates"),
    (r"drawn|draws?", "sampled, samples"),
    (r"truth(?: values?)?", "bool"),
    (r"turned (?:a)?round", "reversed"),
    (r"(?:is|are) spread", "is broadcast, is padded"),
    (r"stor(?:es|ing) steps?", "in-place state update"),
    (r"makes? (?:rows|pieces)|hand(?:s|ed)? on (?:its|their) pieces", "row producer, tiled producer"),
    (r"way back|back through", "backward pass"),
    (r"(?:on|of) (?:the|its|their) way|the way (?:in|out|to)", "intermediate, path"),
    (r"walks? over memory|walk(?:s|ed|ing)? memory", "pass over memory"),
    # The language.
    (r"(?<!quoted\s)texts?", "source, string"),
    (r"one's own", "custom"),
    (r"while compiling", "at compile time"),
    (r"while importing", "at import"),
    # Verbs that have a usual form.
    (r"go(?:es|ing)? on", "continues"),
    (r"gives? back|hands? back", "returns"),
    (r"lest", "so that … not"),
    (r"by the clock", "wall time"),
    (r"in turn", "alternately, one after another"),
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"(?:is|are|was|were) sought", "is searched"),
    (r"bit by bit|bit for bit", "with the same bits"),
    (r"called (?:like|as)", "with the name of"),
    # Descriptions of something that has a name.
    (r"that which|(?:of|by|from|with|than|on) what|all that|everything that is", "the name of the thing"),
    (r"(?<=[.:;|]\s|\*\*)(?-i:What)", "the name of the thing"),
    (r"what (?:is|are|was) (?:left|missing|new|said|taken|fed|made|kept|given)", "the name of the thing"),
    # Spelling is American.
    (r"behaviours?|colours?|grey|neighbours?|favours?", "behavior, color, gray, neighbor, favor"),
]

# Words of C++ identifiers outside of tests, and the one to use instead.
NAMES = {
    "behind|beside": "after, other",
    "complain(?:s|t|ts)?": "report",
    "extremes?": "min_max",
    "halves": "reduced precision",
    "lies": "layout",
    "refuse(?:s|d)?": "reject",
    "rooms?": "module",
    "strangers?": "untrusted",
    "told|tells": "reported",
    "want(?:s|ed)?": "expected, requested",
}
# Names that stay: they are part of the C interface.
ALLOWED_NAMES = {"pdl_session_want"}

# Where a phrase is the right one: file, the part of its line that contains the phrase, and the reason.
ALLOWED = [
    ("docs/kernels.md", "by its sizes alone", "depends on nothing else"),
    ("docs/language.md", "[text](#text)", "the name of the section"),
    ("docs/language.md", "## Text", "links point to the section"),
    ("docs/language.md", "## What is computed while compiling", "links point to the section"),
    ("runtime/profile_page.cc", "<text x='{0:f1}' y='{1:f1}' text-anchor=", "an element of SVG"),
    ("tools/pdl/support/common_options.cc", "expected text, json or sarif", "the name of a format"),
    ("tools/pdl/support/untested.cc", "a size of 0 beside others", "a key of test/ops/waivers.txt"),
    ("docs/limits.md", "updates whole tables", "as opposed to their rows"),
]

# Files that are not checked, and the reason.
EXCLUDED = {
    "docs/conformance.md": "printed by test/conformance/onnx/run.py",
}


def blank(match):
    """Spaces of the same length, so that the positions of all other characters do not change."""
    return re.sub(r"[^\n]", " ", match.group(0))


def markdown_prose(text):
    """The text with code, link targets, comments, and generated sections replaced by spaces."""
    text = re.sub(r"^<!-- what cannot be exported -->$.*?^<!-- end -->$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)", blank, text, flags=re.S)
    return re.sub(r"(?<=\])\([^)\s]*\)|https?://[^\s)>]*", blank, text)


CPP_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)|(?P<raw>R"(?P<tag>\w*)\(.*?\)(?P=tag)")'
    r'|"(?P<string>(?:[^"\\\n]|\\.)*)"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'', re.S)
PYTHON_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*(?:\n[ \t]*\#[^\n]*)*)"
    r'|(?P<quotes>"""|\'\'\')(?P<raw>.*?)(?P=quotes)'
    r'|"(?P<string>(?:[^"\\\n]|\\.)*)"|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'', re.S)
COMMENT_PREFIX = re.compile(r"^([ \t]*)(//[/!]?<?|/\*+|\*(?!/)|\#+)", re.M)
# Not prose in comments and messages: quoted code, placeholders, names of XML elements.
QUOTED = re.compile(r"`[^`\n]*`|'[^'\s]+'|\\?\"[^\"\n]*\"|\{[^{}\n]*\}|</?[a-z]+\b")


def code_prose(token, strings):
    """A reader of source code: keeps comments and, where `strings`, literals that are sentences: those of at
    least three words. A comment begins with '; ', as a clause does."""

    def prefix(match):
        return match.group(1) + match.group(2)[:-1].translate({ord(c): " " for c in "/*!<#"}) + ";"

    def continued(comment):
        first, newline, rest = comment.partition("\n")
        rest = COMMENT_PREFIX.sub(lambda match: " " * len(match.group(0)), rest)
        return COMMENT_PREFIX.sub(prefix, first, count=1) + newline + rest

    def read(text):
        kept, end = [], 0
        for match in token.finditer(text):
            kept.append(re.sub(r"[^\n]", " ", text[end : match.start()]))
            group, end = match.group(0), match.end()
            if match["comment"]:
                kept.append(QUOTED.sub(blank, continued(group)))
            elif strings and match["raw"] is None and len(group.split()) >= 3:
                kept.append(" " + QUOTED.sub(blank, group[1:-1]) + " ")
            else:
                kept.append(re.sub(r"[^\n]", " ", group))
        return "".join(kept) + re.sub(r"[^\n]", " ", text[end:])

    return read


# A function for each kind of file: returns the contents with everything but prose replaced by blanks.
READERS = {".md": markdown_prose}
CPP = code_prose(CPP_TOKEN, strings=True)
READERS.update((suffix, CPP) for suffix in (".h", ".cc", ".cu", ".cuh", ".def", ".c"))
READERS[".py"] = code_prose(PYTHON_TOKEN, strings=True)
READERS.update((suffix, code_prose(PYTHON_TOKEN, strings=False)) for suffix in (".cmake", ".txt", ".sh"))
# In tests a literal is a program or what one prints.
TEST_READERS = {
    **READERS,
    **{suffix: code_prose(CPP_TOKEN, strings=False) for suffix in (".h", ".cc", ".cu", ".cuh", ".c")},
    ".py": code_prose(PYTHON_TOKEN, strings=False),
}


def compile_phrases():
    """A regular expression for any phrase, and the pairs of one for each phrase and its term."""
    gap = r"(?:[ \t]+|[ \t]*\n[ \t]*)"
    phrases = [phrase.replace(" ", gap) for phrase, _ in PHRASES]
    each = [re.compile(rf"\b(?:{phrase})\b", re.I) for phrase in phrases]
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.I), list(zip(each, (instead for _, instead in PHRASES)))


def squeezed(prose):
    """The text with one space for several, and one empty line for several: it has the same phrases."""
    return re.sub(r"\n\n+", "\n\n", "\n".join(" ".join(line.split()) for line in prose.split("\n")))


def check_names(text):
    """Pairs of a line number and a message for the identifiers of C++ source."""
    forbidden = re.compile("|".join(f"(?P<n{i}>{words})" for i, words in enumerate(NAMES)), re.I)
    code = CPP_TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    for name in set(re.findall(r"\b[A-Za-z_]\w*", code)) - ALLOWED_NAMES:
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
            if found := forbidden.fullmatch(word):
                instead = list(NAMES.values())[int(found.lastgroup[1:])]
                for match in re.finditer(rf"\b{name}\b", code):
                    yield text.count("\n", 0, match.start()) + 1, f"{name} -> {instead}"


def is_allowed(line, begin, end, fragments, used):
    """Whether one of the fragments of this line contains all of line[begin:end]."""
    for fragment in fragments:
        at = line.find(fragment)
        while at >= 0:
            if at <= begin and end <= at + len(fragment):
                used.add(fragment)
                return True
            at = line.find(fragment, at + 1)
    return False


def check(name, text, phrases):
    """The findings in one file: pairs of a line number and a message, sorted."""
    readers = TEST_READERS if "test" in name.split("/")[0] or "/tests/" in name else READERS
    suffix = pathlib.PurePath(name).suffix
    prose = readers[suffix](text)
    assert len(prose) == len(text), f"{name}: the reader changed the length of the text"
    begins = [0] + [match.end() for match in re.finditer("\n", text)]
    fragments, used, found = [fragment for page, fragment, _ in ALLOWED if page == name], set(), []
    any_phrase, each_phrase = phrases
    for phrase, instead in each_phrase if any_phrase.search(squeezed(prose)) else ():
        for match in phrase.finditer(prose):
            number = bisect.bisect_right(begins, match.start())
            begin = begins[number - 1]
            line = text[begin:].split("\n", 1)[0]
            if not is_allowed(line, match.start() - begin, min(match.end() - begin, len(line)), fragments, used):
                found.append((number, f"{' '.join(match.group(0).split())} -> {instead}"))
    if readers is READERS and READERS[suffix] is CPP:
        found += check_names(text)
    for fragment in set(fragments) - used:
        found.append((0, f"ALLOWED has {fragment!r}, which allows nothing"))
    return sorted(found)


def files(root):
    """All files of the repository that have a reader, by name. Build folders and hidden ones are none of it."""
    for folder, folders, names in os.walk(root):
        is_root = pathlib.Path(folder) == root
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules" and
                            not (is_root and name == "build"))
        for name in sorted(names):
            path = pathlib.Path(folder, name).relative_to(root).as_posix()
            if not name.startswith(".") and pathlib.PurePath(name).suffix in READERS and path not in EXCLUDED:
                yield path


def main():
    root = pathlib.Path(sys.argv[1])
    phrases = compile_phrases()
    count = 0
    names = sys.argv[2:] or list(files(root))
    assert names, f"there is nothing to check in {root}"
    for name in names:
        for line, message in check(name, (root / name).read_text(encoding="utf-8"), phrases):
            print(f"{name}:{line}: {message}")
            count += 1
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
