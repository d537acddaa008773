#!/usr/bin/env python3
"""Sends random edits to `pdl lsp` and compares the last diagnostics with those of `pdl check`.

    random_edits.py PDL FOLDER [FILE…]

PDL_LSP_EDITS is the number of edits (default: 3000), PDL_LSP_SEED the seed. Between the edits, requests are made at
random positions. The client keeps its own copy of the document, in UTF-16 as editors do.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

from client import Client, place, span

PDL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
EDITS = int(os.environ.get("PDL_LSP_EDITS", 3000))
SEED = int(os.environ.get("PDL_LSP_SEED", 1))
METHODS = ["hover", "completion", "definition", "references", "documentHighlight", "signatureHelp", "prepareRename"]
WHOLE = ["documentSymbol", "foldingRange", "semanticTokens/full", "codeLens", "formatting"]
PIECES = ["\n", "\r\n", "\r", "(", ")", "[", "{", "}", "\"", "#", "##", ",", ".", "..", "=", "x", "relu(", "layer f(x: ",
          "input ", "\U0001F600", "é", "\t", "1e9", "-", "test \"t\" {\n", "import \"", "\\", "~", "|>", " as ", "\0",
          "\ufeff", "\u2028", "for i in 0..3 {\n", "return y", "f32[N, 3]", "in 0..", "None", "\ud83d"]


class Document:
    """The contents in UTF-16, and positions in them."""

    def __init__(self, contents):
        self.units = contents.encode("utf-16-le", "surrogatepass")

    def __len__(self):
        return len(self.units) // 2

    def contents(self):
        """As the server has them: what is not a character is replaced."""
        return self.units.decode("utf-16-le", "surrogatepass").encode("utf-16-le", "surrogatepass").decode(
            "utf-16-le", "replace")

    def lines(self):
        """The begin of each line."""
        begins, unit = [0], [self.units[i:i + 2] for i in range(0, len(self.units), 2)]
        for i, one in enumerate(unit):
            if one == b"\n\0" or (one == b"\r\0" and unit[i + 1:i + 2] != [b"\n\0"]):
                begins.append(i + 1)
        return begins

    def boundary(self, index):
        """Moves an index inside a character or a line end to a position that a client can name."""
        low = self.units[2 * index:2 * index + 2]
        if low and 0xDC <= low[1] <= 0xDF and index > 0 and 0xD8 <= self.units[2 * index - 1] <= 0xDB:
            index -= 1
        if low == b"\n\0" and index > 0 and self.units[2 * index - 2:2 * index] == b"\r\0":
            index -= 1
        return index

    def position(self, index, begins):
        line = max(i for i, begin in enumerate(begins) if begin <= index)
        return line, index - begins[line]

    def replace(self, begin, end, piece):
        self.units = self.units[:2 * begin] + piece.encode("utf-16-le", "surrogatepass") + self.units[2 * end:]


def edit(random_, document, client, uri):
    """One random change of the document."""
    kind = random_.random()
    begins = document.lines()
    if kind < 0.01:
        document.units = random_.choice(SOURCES).encode("utf-16-le")
        client.change(uri, document.contents())
        return
    begin = document.boundary(random_.randint(0, len(document)))
    end = begin
    if kind < 0.5:
        end = document.boundary(min(len(document), begin + random_.choice([0, 1, 1, 2, 5, 40])))
    if kind < 0.1:  # a part of a line
        end = document.boundary(min(len(document), begin + random_.randint(0, 200)))
    piece = random_.choice(PIECES) if random_.random() < 0.7 else ""
    if random_.random() < 0.2:
        source = random_.choice(SOURCES)
        at = random_.randint(0, len(source))
        piece = source[at:at + random_.randint(0, 120)]
    # A half of a pair must not meet another one: what the server has would differ.
    change = (document.position(begin, begins), document.position(end, begins), piece.replace("\ud83d", "\ufffd"))
    document.replace(begin, end, piece.replace("\ud83d", "\ufffd"))
    client.change(uri, change)
    if len(document) > 20000:
        document.units = SOURCES[0].encode("utf-16-le")
        client.change(uri, document.contents())


def query(random_, document, client, uri):
    """One random request."""
    begins = document.lines()
    position = document.position(random_.randint(0, len(document)), begins)
    if random_.random() < 0.05:
        position = (random_.randint(-5, 10**6), random_.randint(-5, 10**6))
    if random_.random() < 0.3:
        method = random_.choice(WHOLE)
        client.request_raw("textDocument/" + method, {"textDocument": {"uri": uri}, "options": {}})
    elif random_.random() < 0.2:
        client.request_raw("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": span((0, 0), position)})
    elif random_.random() < 0.1:
        client.request_raw("textDocument/rename", {"textDocument": {"uri": uri}, "position": place(position),
                                                   "newName": "renamed"})
    else:
        client.request_raw("textDocument/" + random_.choice(METHODS),
                           {"textDocument": {"uri": uri}, "position": place(position)})


def compare(client, document, uri, path):
    """The last diagnostics are those of `pdl check` for the same contents."""
    client.notifications.clear()
    client.change(uri, document.contents())
    found = client.diagnostics(uri)
    path.write_bytes(document.contents().encode())
    checked = subprocess.run([PDL, "check", "--diagnostics=json", str(path)], capture_output=True)
    expected = []
    for line in filter(None, checked.stderr.decode().split("\n")):
        error = json.loads(line)
        if "range" not in error or error["file"] != str(path):
            continue
        expected.append((error["severity"], error.get("code"), error["range"]["start"]["offset"],
                         error["range"]["end"]["offset"]))
    # Offsets count bytes of the source without a byte order mark.
    contents = document.contents()
    begins = document.lines()
    names = {1: "error", 2: "warning", 3: "note"}
    skipped = 3 if contents.startswith("\ufeff") else 0

    def offset(position):
        index = begins[position["line"]] + position["character"]
        return len(document.units[:2 * index].decode("utf-16-le", "replace").encode()) - skipped

    actual = [(names[d["severity"]], d.get("code"), offset(d["range"]["start"]), offset(d["range"]["end"]))
              for d in found]
    source = contents.encode()[skipped:]

    def shape(all_):
        """The protocol has no position between "\\r" and "\\n", so the ends of ranges are not compared."""
        return {(s, c, b - (source[max(b - 1, 0):b + 1] == b"\r\n")) for s, c, b, _ in all_}

    assert shape(actual) == shape(expected), (path, shape(actual) ^ shape(expected))


def main():
    global SOURCES
    SOURCES = [pathlib.Path(name).read_text() for name in sys.argv[3:]]
    assert SOURCES, "no files are given"
    random_ = random.Random(SEED)
    client = Client(PDL)
    client.initialize()
    path = FOLDER / "random.pdl"
    document = Document(SOURCES[0])
    client.open(path.as_uri(), SOURCES[0])
    compared = 0
    for number in range(1, EDITS + 1):
        edit(random_, document, client, path.as_uri())
        if random_.random() < 0.1:
            query(random_, document, client, path.as_uri())
        if number % max(EDITS // 20, 1) == 0:
            compare(client, document, path.as_uri(), path)
            compared += 1
    status = pathlib.Path(f"/proc/{client.process.pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    assert client.shutdown() == 0
    print(f"{EDITS} edits, {compared} comparisons, at most {int(peak) // 1024} MB")


if __name__ == "__main__":
    main()
