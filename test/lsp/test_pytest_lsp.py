"""The language server with the client of pytest-lsp, which checks each message against the types of lsprotocol.

    PDL=build/release/bin/pdl python -m pytest test/lsp/test_pytest_lsp.py

Skipped if pytest-lsp is not installed.
"""

import asyncio
import os
import pathlib

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp")
types = pytest.importorskip("lsprotocol.types")
JsonRpcException = pytest.importorskip("pygls.exceptions").JsonRpcException

SOURCE = """input x: f32[N, 4]
hidden = relu(fc(x, size=8))
y = softmx(hidden)
output y
"""


@pytest_lsp.fixture(config=pytest_lsp.ClientServerConfig(server_command=[os.environ.get("PDL", "pdl"), "lsp"]))
async def client(lsp_client: pytest_lsp.LanguageClient):
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    # This client has no handler for `client/registerCapability`.
    capabilities.workspace.did_change_watched_files = None
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities, root_uri="file:///tmp"))
    yield
    await lsp_client.shutdown_session()


def document(uri):
    return types.TextDocumentIdentifier(uri=uri)


def position(line, character):
    return types.Position(line=line, character=character)


def opened(uri, text, version=1):
    return types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri=uri, language_id="pdl", version=version, text=text))


def changed(uri, version, *changes):
    return types.DidChangeTextDocumentParams(
        text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version), content_changes=list(changes))


def inserted(line, character, text):
    at = position(line, character)
    return types.TextDocumentContentChangePartial(range=types.Range(start=at, end=at), text=text)


def complete(text):
    return types.TextDocumentContentChangeWholeDocument(text=text)


async def until(condition):
    """Waits for messages of the server."""
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError("the server has not answered")


async def errors_of(client, uri, count):
    """The diagnostics of a document when there are so many."""
    await until(lambda: uri in client.diagnostics and len(client.diagnostics[uri]) == count)
    return client.diagnostics[uri]


BLOCK = """## A block.
layer block(x: F[N, D], size: int > 0) {
  return x |> fc(size=size, act=relu())
}
"""
NETWORK = """import "block.pdl"

# Two lines
# of comment.
input x: f32[N, 4]
hidden = block(x, size=8)
output y = softmax(hidden)

test "adds up" {
  feed x = [[0.0, 1.0, 2.0, 3.0]]
  expect sum(y) ~= 1.0
}
"""


@pytest.mark.asyncio
async def test_files(client, tmp_path):
    """Imports, edits of several places and encodings, and everything that answers with edits or commands."""
    network, block = (tmp_path / name for name in ("network.pdl", "block.pdl"))
    network.write_text(NETWORK, encoding="utf-8")
    block.write_text(BLOCK, encoding="utf-8")
    uri, block_uri = network.as_uri(), block.as_uri()
    client.text_document_did_open(opened(uri, NETWORK))
    await errors_of(client, uri, 0)
    # Into the imported file and into a standard layer.
    found = await client.text_document_definition_async(types.DefinitionParams(document(uri), position(5, 10)))
    assert [(each.uri, each.range.start.line) for each in found] == [(block_uri, 1)]
    client.text_document_did_open(opened(block_uri, BLOCK))
    await errors_of(client, block_uri, 0)
    found = await client.text_document_definition_async(types.DefinitionParams(document(block_uri), position(2, 15)))
    assert pathlib.Path(found[0].uri.removeprefix("file://")).read_text(encoding="utf-8").count("layer fc(") == 1
    # An unsaved edit of the imported file is an error in the one that imports it.
    client.text_document_did_change(changed(block_uri, 2, complete(BLOCK.replace("size: int", "width: int").replace(
        "size=size", "size=width"))))
    seen = await errors_of(client, uri, 1)
    assert "'size'" in seen[0].message
    assert seen[0].severity == types.DiagnosticSeverity.Error and seen[0].source == "pdl"
    client.text_document_did_change(changed(block_uri, 3, complete(BLOCK)))
    await errors_of(client, uri, 0)
    # Rename in both files.
    at = types.PrepareRenameParams(document(uri), position(5, 10))
    prepared = await client.text_document_prepare_rename_async(at)
    assert prepared.placeholder == "block"
    edit = await client.text_document_rename_async(types.RenameParams(document(uri), position(5, 10), "unit"))
    assert sorted(each.text_document.uri for each in edit.document_changes) == sorted([uri, block_uri])
    with pytest.raises(JsonRpcException, match="keyword"):
        await client.text_document_rename_async(types.RenameParams(document(uri), position(5, 10), "layer"))
    # Structure.
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document(uri)))
    assert [each.name for each in symbols] == ["block.pdl", "x", "hidden", "y", "adds up"]
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document(uri)))
    assert {(each.start_line, each.kind) for each in folds} >= {(2, types.FoldingRangeKind.Comment)}
    tokens = await client.text_document_semantic_tokens_range_async(types.SemanticTokensRangeParams(
        document(uri), types.Range(start=position(4, 0), end=position(5, 0))))
    assert tokens.data[0] == 4 and tokens.data[2] == len("input")
    # The test of the saved file.
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document(uri)))
    assert len(lenses) == 1
    command = lenses[0].command
    await client.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments))
    await until(lambda: client.messages)
    assert "1 of 1 tests passed" in client.messages[0].message
    client.text_document_did_close(types.DidCloseTextDocumentParams(document(block_uri)))


@pytest.mark.asyncio
async def test_columns_and_formatting(client):
    """Columns are UTF-16 units; half-written lines and CRLF are edits as any others."""
    uri = "file:///tmp/columns.pdl"
    client.text_document_did_open(opened(uri, "input x: f32[N]\r\ny = cos(x)  # \U0001F600\r\noutput   y\r\n"))
    await errors_of(client, uri, 0)
    client.text_document_did_change(changed(uri, 2, inserted(1, 15, " \U0001F600"), inserted(1, 4, "sinn(")))
    await errors_of(client, uri, 1)
    client.text_document_did_change(changed(uri, 3, inserted(1, 15, ")"), types.TextDocumentContentChangePartial(
        range=types.Range(start=position(1, 7), end=position(1, 8)), text="")))
    await errors_of(client, uri, 0)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(types.DocumentFormattingParams(document(uri), options))
    assert any("output y" in each.new_text for each in edits)
    hover = await client.text_document_hover_async(types.HoverParams(document(uri), position(1, 5)))
    assert "sin(" in hover.contents.value
    assert await client.text_document_hover_async(types.HoverParams(document(uri), position(70, 0))) is None


@pytest.mark.asyncio
async def test_session(client):
    uri = "file:///tmp/session.pdl"
    client.text_document_did_open(types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri=uri, language_id="pdl", version=1, text=SOURCE)))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    found = client.diagnostics[uri]
    assert [d.code for d in found] == ["PDL0101"]
    actions = await client.text_document_code_action_async(types.CodeActionParams(
        text_document=document(uri), range=found[0].range, context=types.CodeActionContext(diagnostics=found)))
    assert actions[0].title == "Change to 'softmax'"
    client.text_document_did_change(types.DidChangeTextDocumentParams(
        text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=2),
        content_changes=[types.TextDocumentContentChangePartial(range=found[0].range, text="softmax")]))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert not client.diagnostics[uri]
    at = types.TextDocumentPositionParams(text_document=document(uri), position=position(1, 2))
    hover = await client.text_document_hover_async(types.HoverParams(at.text_document, at.position))
    assert "f32[N, 8]" in hover.contents.value
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(
        text_document=document(uri), range=types.Range(start=position(0, 0), end=position(9, 0))))
    assert [hint.label for hint in hints] == [": f32[N, 8]", ": f32[N, 8]"]
    assert await client.text_document_definition_async(types.DefinitionParams(at.text_document, position(2, 13)))
    assert len(await client.text_document_references_async(types.ReferenceParams(
        context=types.ReferenceContext(include_declaration=True), text_document=document(uri),
        position=position(1, 2)))) == 2
    assert await client.text_document_document_highlight_async(
        types.DocumentHighlightParams(at.text_document, at.position))
    edit = await client.text_document_rename_async(types.RenameParams(
        new_name="inner", text_document=document(uri), position=position(1, 2)))
    assert edit.changes or edit.document_changes
    items = await client.text_document_completion_async(types.CompletionParams(document(uri), position(2, 7)))
    assert "softmax" in [item.label for item in items.items]
    help_ = await client.text_document_signature_help_async(types.SignatureHelpParams(document(uri), position(2, 12)))
    assert help_.signatures[0].label.startswith("softmax(")
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    await client.text_document_formatting_async(types.DocumentFormattingParams(document(uri), options))
    assert await client.text_document_document_symbol_async(types.DocumentSymbolParams(document(uri)))
    await client.text_document_folding_range_async(types.FoldingRangeParams(document(uri)))
    assert (await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document(uri)))).data
    await client.text_document_code_lens_async(types.CodeLensParams(document(uri)))
