#!/usr/bin/env python3
"""Drives `pdl lsp` through its features.

    features.py PDL FOLDER
"""

import json
import os
import pathlib
import sys

from client import Client, edges, place, span

PDL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])

MAIN = """## Points in the plane.
import "blocks.pdl" as blocks
import "blocks.pdl"

attr width: int > 0 = 8
input x: f32[N, 2]

## The first weights.
param w1: f32[2, 8] = normal(std=1.0)
layer head = fc(size=3)

layer twice(v: F[N, D], scale: float = 2.0) {
  y = v * scale
  return y, first=v
}

hidden = relu(x @ w1)
big = twice(hidden, scale=3.0)
small = twice(x).first
mixed = block(hidden, size=width)
prob = softmax(head(mixed))
if width > 4 {
  pick = argmax(prob, axis=1)
} else {
  pick = argmax(prob, axis=-1)
}

output prob, big, small
output class = pick

test "sums to one" {
  feed x = [[0.0, 1.0]]
  total = sum(prob, axes=1)
  expect total ~= [1.0]
}
"""
BLOCKS = """## A block.
layer block(x: F[N, D], size: int > 0) {
  return x |> fc(size=size, act=relu())
}
"""


def uri(name):
    return (FOLDER / name).as_uri()


def find(contents, word, nth=0, offset=0):
    """The position of the nth occurrence of a word."""
    at = -1
    for _ in range(nth + 1):
        at = contents.index(word, at + 1)
    before = contents[:at + offset]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def apply(contents, edits):
    """The contents after edits, whose columns are characters."""
    lines = contents.split("\n")
    begins = [sum(len(line) + 1 for line in lines[:i]) for i in range(len(lines) + 1)]
    at = lambda position: begins[position["line"]] + position["character"]
    for edit in sorted(edits, key=lambda e: at(e["range"]["start"]), reverse=True):
        contents = contents[:at(edit["range"]["start"])] + edit["newText"] + contents[at(edit["range"]["end"]):]
    return contents


def check_lifecycle():
    client = Client(PDL)
    reply = client.request_raw("textDocument/hover", {})
    assert reply["error"]["code"] == -32002, reply
    client.notify("textDocument/didOpen", {})
    client.send_bytes(b"{nonsense")
    client.send_bytes(b"[1, 2]")
    client.send_bytes(b'{"jsonrpc": "2.0", "id": 77}')
    client.send_bytes(b'{"jsonrpc": "2.0", "id": 1e999, "method": "shutdown"}')
    client.process.stdin.write(b"garbage\r\n\r\nContent-Length: x\r\n\r\n")
    result = client.initialize()
    assert result["serverInfo"]["name"] == "pdl"
    assert result["capabilities"]["positionEncoding"] == "utf-16"
    assert client.request_raw("initialize", {"capabilities": {}})["error"]["code"] == -32600
    assert client.request_raw("no/method", {})["error"]["code"] == -32601
    for method in ("hover", "documentSymbol"):
        assert client.request_raw("textDocument/" + method, {"position": 3})["error"]["code"] == -32602
    client.notify("no/notification", {"a": 1})
    client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///none.pdl"}, "contentChanges": []})
    assert client.request("textDocument/hover", {"textDocument": {"uri": "file:///none.pdl"},
                                                 "position": {"line": 0, "character": 0}}) is None
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///none.pdl"}}) is None
    client.request("shutdown")
    assert client.request_raw("textDocument/hover", {})["error"]["code"] == -32600
    client.notify("exit")
    assert client.process.wait(timeout=60) == 0
    # Ends without `shutdown`.
    client = Client(PDL)
    client.initialize()
    client.notify("exit")
    assert client.process.wait(timeout=60) == 1
    client = Client(PDL)
    client.process.stdin.close()
    assert client.process.wait(timeout=60) == 1


def check_diagnostics(client):
    main = uri("main.pdl")
    client.open(main, MAIN)
    assert client.diagnostics(main) == []
    line = find(MAIN, "prob = softmax")[0]
    # An incremental change; the columns after the astral character count UTF-16 units.
    client.change(main, ((line, 0), (line, 0), "# \U0001F600 é\r\n"), ((line + 1, 7), (line + 1, 14), "softmx"))
    found = client.diagnostics(main)
    assert len(found) == 1, found
    assert edges(found[0]["range"]) == ((line + 1, 7), (line + 1, 13)), found
    assert found[0]["code"] == "PDL0101" and found[0]["severity"] == 1 and found[0]["source"] == "pdl"
    assert "did you mean 'softmax'" in found[0]["message"]
    actions = client.request("textDocument/codeAction", {
        "textDocument": {"uri": main}, "range": found[0]["range"], "context": {"diagnostics": found}})
    assert [a["title"] for a in actions] == ["Change to 'softmax'"], actions
    edit = actions[0]["edit"]["changes"][main][0]
    assert edit["newText"] == "softmax" and edges(edit["range"]) == ((line + 1, 7), (line + 1, 13))
    # Back, in one message with several changes.
    client.change(main, ((line + 1, 7), (line + 1, 13), "softmax"), ((line, 0), (line + 1, 0), ""))
    assert client.diagnostics(main) == []
    # An error with related positions.
    client.change(main, MAIN.replace("relu(x @ w1)", "relu(w1 @ w1)"))
    found = client.diagnostics(main)
    assert "inner dims" in found[0]["message"] and "w1: f32[2, 8]" in found[0]["message"], found
    client.change(main, MAIN)
    assert client.diagnostics(main) == []
    # An error in a test, and one of a size that only lowering finds.
    client.change(main, MAIN.replace("expect total", "expect totl"))
    found = client.diagnostics(main)
    assert len(found) == 1 and "totl" in found[0]["message"], found
    client.change(main, MAIN)
    assert client.diagnostics(main) == []


def check_quick_fixes(client):
    """Edits that insert, remove and replace; each gives a source without errors."""
    fixes = uri("fixes.pdl")
    client.open(fixes, "output y = 1\n")
    for written, title, corrected in (
            ("output y = .5\n", "Insert '0'", "output y = 0.5\n"),
            ("output y = 2;\n", "Remove ';'", "output y = 2\n"),
            ("output y = 2 ^ 3\n", "Change to '**'", "output y = 2 ** 3\n"),
            ("input n: i64[N]\noutput y = sigmoid(n)\n", "Change to 'cast(n, to=f32)'",
             "input n: i64[N]\noutput y = sigmoid(cast(n, to=f32))\n"),
            # Longer than a string without memory of its own.
            ("input numbers: i64[N]\noutput y = sqrt(numbers + 1)\n", "Change to 'cast(numbers + 1, to=f32)'",
             "input numbers: i64[N]\noutput y = sqrt(cast(numbers + 1, to=f32))\n")):
        client.change(fixes, written)
        found = client.diagnostics(fixes)
        actions = client.request("textDocument/codeAction", {
            "textDocument": {"uri": fixes}, "range": found[0]["range"], "context": {"diagnostics": found}})
        assert [a["title"] for a in actions] == [title], (written, found, actions)
        assert apply(written, actions[0]["edit"]["changes"][fixes]) == corrected, actions
        for only, count in ((["quickfix"], 1), ([""], 1), (["refactor", "source.organizeImports"], 0)):
            assert len(client.request("textDocument/codeAction", {
                "textDocument": {"uri": fixes}, "range": found[0]["range"],
                "context": {"diagnostics": found, "only": only}})) == count, only
        client.change(fixes, corrected)
        assert client.diagnostics(fixes) == [], corrected
    client.close(fixes)


def check_imports(client):
    """Unsaved contents of imported files count, and their errors are shown in them."""
    main, blocks = uri("main.pdl"), uri("blocks.pdl")
    client.open(blocks, BLOCKS)
    assert client.diagnostics(blocks) == []
    client.drop(main)
    client.change(blocks, BLOCKS.replace("size=size", "size=sise"))
    found = client.wait_diagnostics(blocks, lambda d: d)
    assert "sise" in found[0]["message"], found
    client.change(blocks, BLOCKS.replace("size: int", "width: int").replace("size=size", "size=width"))
    found = client.wait_diagnostics(main, lambda d: d)
    assert "'size'" in found[0]["message"], found
    client.close(blocks)
    client.wait_diagnostics(main, lambda d: not d)


def hints_of(client, main, contents):
    lines = contents.split("\n")
    hints = client.request("textDocument/inlayHint", {"textDocument": {"uri": main},
                                                      "range": span((0, 0), (len(lines), 0))})
    return {lines[h["position"]["line"]][:h["position"]["character"]].split()[-1]: h["label"] for h in hints}


def check_hints(client, main):
    hints = hints_of(client, main, MAIN)
    assert hints["hidden"] == ": f32[N, 8]", hints
    assert hints["pick"] == ": i64[N] in 0..3", hints
    assert hints["total"] == ": f32[N]", hints
    assert hints["class"] == ": i64[N] in 0..3", hints
    # A layer that is called with two types.
    assert hints["y"] == ": f32[N, 8] | f32[N, 2]", hints
    assert hints["first"] == ": f32[N, 8] | f32[N, 2]", hints
    # While a statement is incomplete, the types of the last analysis are shown.
    broken = MAIN.replace("relu(x @ w1)", "relu(x @ ")
    client.change(main, broken)
    assert client.diagnostics(main) != []
    hints = hints_of(client, main, broken)
    assert hints["hidden"] == ": f32[N, 8]" and hints["prob"] == ": f32[N, 3]", hints
    client.change(main, MAIN)
    assert client.diagnostics(main) == []


def check_hover(client, main):
    def hover(word, nth=0, offset=0):
        result = client.at("textDocument/hover", main, find(MAIN, word, nth, offset))
        return "" if result is None else result["contents"]["value"]

    text = hover("argmax")
    assert "argmax(" in text and "| `axis` |" in text and "f32[N, 3]" in text, text
    text = hover("w1", 1)
    assert "w1: f32[2, 8]" in text and "64 bytes" in text and "The first weights." in text, text
    assert "defined on line 9" in text, text
    assert "matmul" in hover("@"), hover("@")
    text = hover("twice(hidden")
    assert "twice(" in text and "f32[N, 8]" in text, text
    text = hover("axis=1")
    assert "attribute of `argmax`" in text, text
    assert "N" in hover("[N, 2]", 0, 1)
    assert "fc(" in hover("fc(size=3)"), hover("fc(size=3)")
    text = hover("hidden", 1)
    assert "hidden: f32[N, 8]" in text and "defined on line 17" in text, text


def check_navigation(client, main):
    def definitions(word, nth=0, offset=0):
        found = client.at("textDocument/definition", main, find(MAIN, word, nth, offset))
        return [(d["uri"], edges(d["range"])[0]) for d in found]

    assert definitions("hidden", 1) == [(main, find(MAIN, "hidden"))]
    assert definitions("twice", 1) == [(main, find(MAIN, "twice"))]
    assert definitions("block(hidden") == [(uri("blocks.pdl"), (1, 6))]
    assert definitions("scale=3.0") == [(main, find(MAIN, "scale: float"))]
    assert definitions("pick", 2) == [(main, find(MAIN, "pick")), (main, find(MAIN, "pick", 1))]
    assert definitions("head(mixed") == [(main, find(MAIN, "head"))]
    assert definitions(".first", 0, 1) == [(main, find(MAIN, "first=v"))]
    (target, at), = definitions("fc(size=3)")
    assert target.endswith("/fc.pdl"), target
    path = pathlib.Path(target.removeprefix("file://"))
    assert path.read_text().splitlines()[at[0]].startswith("layer fc("), path
    # The library's own files have no diagnostics.
    client.open(target, path.read_text())
    assert client.diagnostics(target) == []
    client.close(target)

    found = client.at("textDocument/references", main, find(MAIN, "hidden"),
                      context={"includeDeclaration": True})
    assert [edges(f["range"])[0] for f in found] == [find(MAIN, "hidden", n) for n in range(3)], found
    found = client.at("textDocument/references", main, find(MAIN, "hidden"),
                      context={"includeDeclaration": False})
    assert len(found) == 2
    found = client.at("textDocument/documentHighlight", main, find(MAIN, "scale"))
    assert [f["kind"] for f in found] == [3, 2, 2], found


def check_rename(client, main):
    def rename(word, name, nth=0):
        return client.request_raw("textDocument/rename", {
            "textDocument": {"uri": main}, "position": place(find(MAIN, word, nth)), "newName": name})

    prepared = client.at("textDocument/prepareRename", main, find(MAIN, "hidden"))
    assert prepared["placeholder"] == "hidden", prepared
    reply = client.request_raw("textDocument/prepareRename", {
        "textDocument": {"uri": main}, "position": place(find(MAIN, "softmax"))})
    assert "part of the language" in reply["error"]["message"], reply
    edits = rename("hidden", "inner")["result"]["changes"][main]
    assert apply(MAIN, edits) == MAIN.replace("hidden", "inner"), edits
    # The names of outputs and results stay.
    changed = apply(MAIN, rename("prob =", "p")["result"]["changes"][main])
    assert "output prob = p, big, small" in changed and "p = softmax(" in changed, changed
    changed = apply(MAIN, rename("y = v", "z")["result"]["changes"][main])
    assert "return y=z, first=v" in changed, changed
    changed = apply(MAIN, rename("scale", "factor")["result"]["changes"][main])
    assert "twice(hidden, factor=3.0)" in changed and "v * factor" in changed, changed
    both = rename("block(hidden", "unit")["result"]["changes"]
    assert apply(BLOCKS, both[uri("blocks.pdl")]) == BLOCKS.replace("layer block", "layer unit"), both
    for name, why in (("layer", "keyword"), ("prob", "taken"), ("3x", "not a name"), ("f32", "dtype")):
        reply = rename("hidden", name)
        assert why in reply["error"]["message"], reply


def check_refused_renames(client):
    """Renamings that would change the network, or cause errors, are rejected."""
    document = uri("renames.pdl")
    client.open(document, "output y = 1.0\n")

    def rename(contents, word, name, nth=0):
        client.change(document, contents)
        return client.request_raw("textDocument/rename", {
            "textDocument": {"uri": document}, "position": place(find(contents, word, nth)), "newName": name})

    for contents, word, name, why in (
            # Uses that are not known: in a path, in a string.
            ("layer f(x: F[N, D]) {\n  param w: F[D, 2] = zeros()\n  return x @ w\n}\ninput x: f32[N, 4]\n"
             "y = f(x)\noutput y, q = sum(y.w)\n", "w: F", "k", "line 7: 'y' has no parameter 'w'"),
            ("layer g(x: F[...]) { return x }\ninput x: f32[N, 4]\noutput y = fc(x, size=4, act=\"g\")\n", "g(", "h",
             "line 3"),
            # Other calls.
            ("layer f(a: F[N, D]) { return relu(a) }\nlayer inst = fc(size=3)\ninput x: f32[N, 3]\ny = f(x)\n"
             "z = inst(y)\noutput z\n", "f(a", "inst", "other layers or operators"),
            ("layer h(x: F[N, D]) { return x * 3.0 }\nlayer f(x: F[N, D], act: function) { return act(h(x)) }\n"
             "input x: f32[N, 3]\noutput y = f(x, act=relu())\n", "act:", "h", "other layers or operators"),
            # The same in a source that has an error already.
            ("layer g(x: F[...]) { return x }\ninput x: f32[N, 4]\ny = fc(x, size=4, act=\"g\")\noutput z = h(y)\n", "g(", "h",
             "line 3"),
            # A statement that is not complete.
            ("input x: f32[N, 3]\ny = relu(x)\nz = y + x +\noutput z\n", "y =", "k", "syntax error, in line 3")):
        reply = rename(contents, word, name)
        assert "error" in reply and why in reply["error"]["message"], (contents, reply)
    # The settings of a test.
    tested = ("attr width: int > 0 = 16\ninput x: f32[N, 4]\noutput y = fc(x, size=width)\n"
              "test \"a\" with {width=2} {\n  feed x = ones([1, 4])\n  expect y ~= y\n}\n")
    for nth in range(3):
        changed = apply(tested, rename(tested, "width", "size", nth)["result"]["changes"][document])
        assert changed == tested.replace("width", "size"), changed
    # Names with dots.
    dotted = "input enc.x: f32[N, 4]\nparam p.w: f32[4, 2] = zeros()\noutput y = enc.x @ p.w\noutput z = enc.x * 2\n"
    changed = apply(dotted, rename(dotted, "enc.x", "k")["result"]["changes"][document])
    assert changed == dotted.replace("enc.x", "k"), changed
    changed = apply(dotted, rename(dotted, "p.w", "w", 1)["result"]["changes"][document])
    assert changed == dotted.replace("p.w", "w"), changed
    client.change(document, dotted)
    uses = client.request("textDocument/references", {
        "textDocument": {"uri": document}, "position": place(find(dotted, "enc.x", 1, 5)),
        "context": {"includeDeclaration": True}})
    assert len(uses) == 3, uses
    # An error that was there before prevents nothing.
    broken = "input x: f32[N, 3]\ny = relu(x)\nz = softmx(y)\noutput z, y\n"
    changed = apply(broken, rename(broken, "y =", "k")["result"]["changes"][document])
    assert "k = relu(x)" in changed and "softmx(k)" in changed, changed
    client.close(document)


def check_completion(client, main):
    """In incomplete source."""
    def complete(statement, cursor=None):
        contents = MAIN.replace("output prob, big", f"{statement}\noutput prob, big")
        client.change(main, contents)
        line = contents.split("\n").index(statement)
        result = client.at("textDocument/completion", main, (line, len(statement) if cursor is None else cursor))
        return {item["label"]: item for item in result["items"]}

    items = complete("z = hid")
    assert items["hidden"]["detail"] == "f32[N, 8]", items
    items = complete("z = softm")
    assert items["softmax"]["textEdit"]["newText"] == "softmax($0)" and items["softmax"]["insertTextFormat"] == 2
    items = complete("z = argmax(prob, ")
    assert "axis=" in items and "int" in items["axis="]["detail"], items
    items = complete("z = argmax(prob, axis=1, ")
    assert "axis=" not in items, items
    assert set(complete("z = lstm(x, size=3).")) >= {"last", "cell"}
    assert "block" in complete("z = blocks.")
    assert "input" in complete("inp")
    assert "f32" in complete("input q: ")
    assert complete("# hid") == {}
    assert list(complete('import "b')) == ["blocks.pdl"]
    assert "recompute=" in complete("z = fc(x, rec") and "true" in complete("z = fc(x, training=")
    items = complete("minimize mean(hidden) with adam(")
    assert {"lr=", "beta1=", "clip_norm=", "lazy="} <= set(items) and not {"w=", "g=", "recompute="} & set(items), items
    for loss in ("minimize mean(", "minimize mean(fc(x, size=2, "):
        assert not {"clip_norm=", "lazy="} & set(complete(loss)), loss
    assert "recompute=" in complete("minimize mean(fc(x, size=2, rec")
    items = complete("z = twice(x, sc")
    assert "scale=" in items and items["scale="]["detail"] == "float = 2.0", items
    # Inside a layer whose statement is incomplete.
    contents = MAIN.replace("  y = v * scale\n", "  y = v * scale\n  q = sc\n  r = relu(\n")
    client.change(main, contents)
    result = client.at("textDocument/completion", main, find(contents, "q = sc", 0, 6))
    assert "scale" in [item["label"] for item in result["items"]]

    contents = MAIN.replace("output prob, big", "z = argmax(prob, axis=\noutput prob, big")
    client.change(main, contents)
    result = client.at("textDocument/signatureHelp", main, find(contents, "axis=\n", 0, 5))
    signature = result["signatures"][0]
    assert signature["label"].startswith("argmax(x, axis"), signature
    assert signature["parameters"][result["activeParameter"]]["label"] == "axis", result
    result = client.at("textDocument/signatureHelp", main, find(contents, "twice(hidden", 0, 6))
    assert result["activeParameter"] == 0, result
    # The operand of a pipe is the first one.
    piped = MAIN + "piped = x |> reshape(\n"
    client.change(main, piped)
    result = client.at("textDocument/signatureHelp", main, find(piped, "reshape(", 0, 8))
    signature = result["signatures"][0]
    assert signature["parameters"][result["activeParameter"]]["label"] == "dims", result
    # All operands after the first one belong to a repeatable input.
    for call in ("concat(", "concat(x, ", "concat(x, x, "):
        joined = MAIN + f"joined = {call}\n"
        client.change(main, joined)
        line = joined.rstrip("\n").count("\n")
        result = client.at("textDocument/signatureHelp", main, (line, len(f"joined = {call}")))
        assert result["activeParameter"] == 0, (call, result)
    client.change(main, MAIN)


def check_structure(client, main):
    symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": main}})
    names = [s["name"] for s in symbols]
    assert names[:6] == ["blocks", "blocks.pdl", "width", "x", "w1", "head"], names
    layer = next(s for s in symbols if s["name"] == "twice")
    assert [c["name"] for c in layer["children"]] == ["v", "scale", "y", "first"], layer
    assert names[-1] == "sums to one"
    folds = client.request("textDocument/foldingRange", {"textDocument": {"uri": main}})
    starts = [f["startLine"] for f in folds]
    assert find(MAIN, "layer twice")[0] in starts and find(MAIN, "test ")[0] in starts, folds
    assert any(f.get("kind") == "imports" for f in folds), folds
    lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": main}})
    assert len(lenses) == 1 and lenses[0]["command"]["arguments"] == [main, "sums to one"], lenses
    client.request("workspace/executeCommand", lenses[0]["command"])
    while not any(m["method"] == "window/showMessage" for m in client.notifications):
        client.receive()
    message = next(m for m in client.notifications if m["method"] == "window/showMessage")
    assert "1 of 1 tests passed" in message["params"]["message"], message

    legend = CLIENT_RESULT["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
    data = client.request("textDocument/semanticTokens/full", {"textDocument": {"uri": main}})["data"]
    tokens, line, column = [], 0, 0
    lines = MAIN.split("\n")
    for i in range(0, len(data), 5):
        column = data[i + 1] + (column if data[i] == 0 else 0)
        line += data[i]
        tokens.append((lines[line][column:column + data[i + 2]], legend[data[i + 3]]))
    for token in (("import", "keyword"), ("relu", "function"), ("f32", "type"), ("3.0", "number"),
                  ("twice", "class"), ("hidden", "variable"), ("x", "parameter"), ("N", "typeParameter"),
                  ("## The first weights.", "comment"), ('"sums to one"', "string"), ("fc", "class")):
        assert token in tokens, (token, tokens)


def check_formatting(client, main):
    untidy = MAIN.replace("hidden = relu(x @ w1)", "hidden=relu( x@w1 )")
    client.change(main, untidy)
    edits = client.request("textDocument/formatting", {
        "textDocument": {"uri": main}, "options": {"tabSize": 2, "insertSpaces": True}})
    assert apply(untidy, edits) == MAIN, edits
    assert edges(edits[0]["range"])[0][0] == find(MAIN, "hidden =")[0], "only the lines that change"
    # Ends of lines stay.
    client.change(main, untidy.replace("\n", "\r\n"))
    edits = client.request("textDocument/formatting", {
        "textDocument": {"uri": main}, "options": {"tabSize": 2, "insertSpaces": True}})
    assert apply(untidy.replace("\n", "\r\n"), edits) == MAIN.replace("\n", "\r\n"), edits
    assert edges(edits[0]["range"])[0][0] == find(MAIN, "hidden =")[0], "only the lines that change"
    client.change(main, MAIN.replace("\n", "\r\n"))
    assert client.request("textDocument/formatting", {
        "textDocument": {"uri": main}, "options": {"tabSize": 2, "insertSpaces": True}}) == []
    client.change(main, MAIN)
    assert client.request("textDocument/formatting", {
        "textDocument": {"uri": main}, "options": {"tabSize": 2, "insertSpaces": True}}) == []


def check_encodings():
    client = Client(PDL)
    result = client.initialize({"general": {"positionEncodings": ["utf-8", "utf-16"]}})
    assert result["capabilities"]["positionEncoding"] == "utf-8"
    client.open("untitled:Untitled-1", "# é \U0001F600\rinput x: f32[2] # é\noutput y = relux(x)\n")
    found = client.diagnostics("untitled:Untitled-1")
    assert edges(found[0]["range"])[0] == (2, 11), found
    # This client knows no tree of symbols.
    client.change("untitled:Untitled-1", "layer a(v: F[N]) {\n  return z=v\n}\noutput y = 1\n")
    symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": "untitled:Untitled-1"}})
    names = [(s["name"], s["containerName"], edges(s["location"]["range"])) for s in symbols]
    assert names == [("a", "", ((0, 0), (2, 1))), ("v", "a", ((0, 8), (0, 15))), ("z", "a", ((1, 2), (1, 12))),
                     ("y", "", ((3, 0), (3, 12)))], names
    client.open("untitled:Untitled-2", "\ufeffoutput \U0001F600 = 1\n")
    found = client.diagnostics("untitled:Untitled-2")
    assert edges(found[0]["range"]) == ((0, 10), (0, 14)), found
    assert client.shutdown() == 0
    client = Client(PDL)
    client.initialize()
    client.open("untitled:Untitled-2", "\ufeffoutput \U0001F600 = 1\n")
    found = client.diagnostics("untitled:Untitled-2")
    assert edges(found[0]["range"]) == ((0, 8), (0, 10)), found
    # Positions out of range are moved into it.
    for position in ((0, 9), (0, 1000), (99, 0), (-1, -1), (2**31 - 1, 2**31 - 1)):
        for method in ("hover", "completion", "definition", "signatureHelp", "documentHighlight"):
            client.at("textDocument/" + method, "untitled:Untitled-2", position)
    client.change("untitled:Untitled-2", ((5, 5), (99, 99), "input x: f32[2]\noutput x\n"))
    assert len(client.diagnostics("untitled:Untitled-2")) == 1
    assert client.shutdown() == 0


def main():
    (FOLDER / "main.pdl").write_text(MAIN)
    (FOLDER / "blocks.pdl").write_text(BLOCKS)
    check_lifecycle()
    check_encodings()
    global CLIENT_RESULT
    client = Client(PDL, env={"XDG_CACHE_HOME": str(FOLDER / "cache")})
    CLIENT_RESULT = client.initialize()
    main = uri("main.pdl")
    check_diagnostics(client)
    check_quick_fixes(client)
    check_imports(client)
    check_hints(client, main)
    check_hover(client, main)
    check_navigation(client, main)
    check_rename(client, main)
    check_refused_renames(client)
    check_completion(client, main)
    check_structure(client, main)
    check_formatting(client, main)
    client.close(main)
    assert client.shutdown() == 0
    print("all features answered")


if __name__ == "__main__":
    main()
