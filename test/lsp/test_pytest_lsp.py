"""The language server with the client of pytest-lsp, which checks each message against the types of lsprotocol.

    PDL=build/release/bin/pdl python -m pytest test/lsp/test_pytest_lsp.py

Skipped if pytest-lsp is not installed.
"""

import os

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp")
types = pytest.importorskip("lsprotocol.types")

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
