"""The language server and the files for editors in real editors, with the settings of docs/editors.md.

    PDL=build/release/bin/pdl python -m pytest test/editors

An editor that is not installed is skipped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "test/editors"
PDL = pathlib.Path(os.environ.get("PDL", "pdl")).absolute()

BROKEN = """input x: f32[N, 4]
hidden = relu(fc(x, size=8))
y = softmx(hidden)
output   y
"""
REPAIRED = ["input x: f32[N, 4]", "inner = relu(fc(x, size=8))", "y = softmax(inner)", "output y"]
SUM_TEST = """
test "adds up" {
  feed x = [[0.0, 1.0, 2.0, 3.0]]
  expect sum(y) ~= 1.0
}
"""
UNKNOWN = "no operator or layer is called 'softmx'; did you mean 'softmax'?"


def settings(title):
    """The block of settings that follows a title of docs/editors.md."""
    page = (ROOT / "docs/editors.md").read_text(encoding="utf-8")
    found = re.search(rf"^\*\*{re.escape(title)}\*\*.*?^```\w+\n(.*?)^```", page, re.M | re.S)
    assert found, title
    return found[1]


def need(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


@pytest.fixture
def home(tmp_path):
    """A home folder with a clone of the repository, as the page assumes, and a broken file."""
    (tmp_path / "pdl").symlink_to(ROOT)
    (tmp_path / "broken.pdl").write_text(BROKEN, encoding="utf-8")
    return tmp_path


def run(home, *command, **variables):
    environment = {**os.environ, "HOME": str(home), "PATH": f"{PDL.parent}:{os.environ['PATH']}", "TERM": "xterm",
                   "ANSWERS": str(home / "answers.json"), **variables}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    done = subprocess.run(command, cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answers(home):
    return json.loads((home / "answers.json").read_text(encoding="utf-8"))


def test_neovim(home):
    need("nvim")
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    title = "Neovim 0.7 to 0.10" if re.search(r"v0\.([789]|10)\.", version) else "Neovim"
    (home / "init.lua").write_text(settings(title), encoding="utf-8")
    run(home, "nvim", "--headless", "-u", "init.lua", "broken.pdl", "-c", f"luafile {HERE}/neovim.lua")
    seen = answers(home)
    assert seen["filetype"] == "pdl" and seen["indent"] == 2
    assert seen["diagnostics"] == [{"line": 3, "column": 5, "message": UNKNOWN}]
    assert "hidden: f32[N, 8]" in seen["hover"]
    assert "fc(" in seen["signature"]
    assert "softmax" in seen["completion"]
    assert seen["fix"] == "Change to 'softmax'"
    assert seen["lines"] == REPAIRED


def test_emacs(home):
    need("emacs")
    (home / "init.el").write_text(settings("Emacs"), encoding="utf-8")
    # Debian's package of Eglot is activated at the start of an interactive Emacs only.
    run(home, "emacs", "--batch", "--eval", "(package-activate-all)", "-l", "init.el", "-l", str(HERE / "emacs.el"),
        FILE=str(home / "broken.pdl"))
    seen = answers(home)
    assert seen["mode"] == "pdl-mode" and seen["face"] == "font-lock-keyword-face"
    assert [each["line"] for each in seen["diagnostics"]] == [3]
    assert UNKNOWN in seen["diagnostics"][0]["message"]
    assert "hidden: f32[N, 8]" in seen["hover"]
    assert "softmax" in seen["completion"]
    assert seen["lines"] == REPAIRED


def test_emacs_files_have_no_warnings(home):
    need("emacs")
    for name in ("pdl-words.el", "pdl-mode.el"):
        shutil.copy(ROOT / "editors/emacs" / name, home)
    run(home, "emacs", "--batch", "-L", ".", "--eval", "(setq byte-compile-error-on-warn t)", "-f",
        "batch-byte-compile", "pdl-words.el", "pdl-mode.el")


def test_emacs_indents_as_the_formatter(home):
    need("emacs")
    source = (ROOT / "examples/maml/maml.pdl").read_text(encoding="utf-8")
    formatted = subprocess.run([PDL, "fmt", "-"], input=source, capture_output=True, text=True, check=True).stdout
    flat = "".join(line.lstrip(" ") for line in formatted.splitlines(keepends=True))
    (home / "flat.pdl").write_text(flat, encoding="utf-8")
    run(home, "emacs", "--batch", "-L", str(ROOT / "editors/emacs"), "-l", "pdl-mode", "flat.pdl", "--eval",
        "(progn (pdl-mode) (indent-region (point-min) (point-max)) (save-buffer))")
    assert (home / "flat.pdl").read_text(encoding="utf-8") == formatted


def drive_vscode(home, pdl):
    """The extension, as it is packed, with a stub of VS Code."""
    need("node")
    subprocess.run(["python3", ROOT / "editors/vscode/make_vsix.py", home / "pdl.vsix"], check=True)
    with zipfile.ZipFile(home / "pdl.vsix") as archive:
        archive.extractall(home / "vsix")
    package = json.loads((home / "vsix/extension/package.json").read_text(encoding="utf-8"))
    for part in (package["main"], package["contributes"]["grammars"][0]["path"],
                 package["contributes"]["languages"][0]["configuration"]):
        assert (home / "vsix/extension" / part).exists(), part
    # The program is saved for its test.
    (home / "broken.pdl").write_text(BROKEN + SUM_TEST, encoding="utf-8")
    said = run(home, "node", str(HERE / "vscode.js"), str(home / "vsix/extension/extension.js"),
               str(home / "broken.pdl"), PDL=str(pdl))
    return json.loads(said)


def test_vscode(home):
    seen = drive_vscode(home, PDL)
    assert seen["diagnostics"] == [{
        "message": UNKNOWN, "code": "PDL0101", "severity": 0,
        "range": {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 10}}}]
    assert seen["fix"] == "Change to 'softmax'"
    assert ["softmax", "softmax($0)"] in seen["completion"]
    assert "hidden: f32[N, 8]" in seen["hover"]
    assert seen["definition"] == [{"line": 1, "character": 0}]
    assert seen["references"] == 2 and seen["highlights"] == 2
    assert seen["hints"][:2] == [": f32[N, 8]", ": f32[N, 8]"]
    assert seen["signature"].startswith("softmax(")
    assert seen["symbols"] == ["x", "hidden", "y", "adds up"]
    assert seen["folds"] == 1 and seen["tokens"] > 20
    # The saved file is still broken.
    assert "softmx" in seen["messages"][0]
    assert seen["nothing"] and seen["placeholder"] == "hidden"
    assert "part of the language" in seen["rejected"]
    assert seen["text"] == "\n".join(REPAIRED) + "\n" + SUM_TEST


def test_vscode_reports_a_missing_program(home):
    seen = drive_vscode(home, home / "missing")
    assert len(seen["messages"]) == 1
    assert seen["messages"][0].endswith(f"is not running: spawn {home / 'missing'} ENOENT")
