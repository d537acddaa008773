"""The TextMate grammar, run by textmate-grammar-python, and Vim's syntax file find the comments, strings, numbers and
keywords that the lexer finds, on every .pdl file of the repository.

    PDL=build/release/bin/pdl python -m pytest test/editors/test_token_classes.py

PDL_TOKEN_FILES=20 checks that many of the files. What is not installed is skipped.
"""

import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PDL = os.path.abspath(os.environ.get("PDL", "pdl"))
sys.path.insert(0, str(ROOT / "editors"))

import generate  # noqa: E402

VIM_KINDS = {"pdlComment": "comment", "pdlDoc": "comment", "pdlString": "string", "pdlNumber": "number",
             "pdlKeyword": "keyword", "pdlConstant": "keyword"}


def files():
    names = generate.pdl_files(ROOT)
    count = int(os.environ.get("PDL_TOKEN_FILES", len(names)))
    return names[::max(1, len(names) // count)][:count]


def check(theirs):
    """`theirs` yields (name, tokens)."""
    lexer, problems, count = generate.Lexer(PDL, ROOT), [], 0
    for name, tokens in theirs:
        tokens = list(tokens)
        count += len(tokens)
        problems += generate.differences(name, tokens, lexer.classify(ROOT / name))
    lexer.client.shutdown()
    assert not problems, "\n".join(problems[:50])
    assert count > 10 * len(files())


def by_textmate(parser, contents):
    kinds = {"comment": "comment", "string": "string", "constant.numeric": "number", "keyword": "keyword",
             "constant.language": "keyword"}
    element = parser.parse_string(contents)
    for (line, column), spelling, scopes in element.flatten() if element else []:
        kind = next((kind for prefix, kind in kinds.items() if scopes[-1].startswith(prefix)), None)
        if kind is not None:
            # The grammar's rule for statements includes what precedes the word.
            text = spelling.lstrip("{ \t") if kind == "keyword" else spelling
            yield line, column + len(spelling) - len(text), text, kind


def test_textmate():
    base = pytest.importorskip("textmate_grammar.parsers.base")
    logging.disable(logging.WARNING)
    parser = base.LanguageParser(json.loads((ROOT / "editors/pdl.tmLanguage.json").read_text(encoding="utf-8")))
    check((name, by_textmate(parser, (ROOT / name).read_text(encoding="utf-8"))) for name in files())


def by_vim(lines):
    """(path, tokens) of what classes.vim writes."""
    path, tokens, contents = None, [], []
    for line in lines:
        if line.startswith("/"):
            if path:
                yield path, tokens
            path, tokens = line, []
            contents = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
            continue
        number, begin, group, spelling = line.split(" ", 3)
        if group in VIM_KINDS:
            before = contents[int(number)].encode()[:int(begin)].decode()
            tokens.append((int(number), len(before), spelling, VIM_KINDS[group]))
    yield path, tokens


def test_vim(tmp_path):
    if not shutil.which("vim") or "+syntax" not in subprocess.run(["vim", "--version"], capture_output=True,
                                                                  text=True).stdout:
        pytest.skip("no Vim with syntax highlighting is installed")
    (tmp_path / "files").write_text("".join(f"{ROOT / name}\n" for name in files()), encoding="utf-8")
    environment = {**os.environ, "FILES": str(tmp_path / "files"), "ANSWERS": str(tmp_path / "answers"),
                   "ROOT": str(ROOT)}
    subprocess.run(["vim", "-es", "-u", ROOT / "test/editors/classes.vim"], env=environment, stdin=subprocess.DEVNULL,
                   check=True, timeout=3600)
    lines = (tmp_path / "answers").read_text(encoding="utf-8").split("\n")[:-1]
    check((str(pathlib.Path(path).relative_to(ROOT)), tokens) for path, tokens in by_vim(lines))
