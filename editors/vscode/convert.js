// Conversion between the types of the protocol and of VS Code. Both count columns in UTF-16 units.
"use strict";

const vscode = require("vscode");

const position = (p) => new vscode.Position(p.line, p.character);
const range = (r) => new vscode.Range(position(r.start), position(r.end));
const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
const markdown = (m) => new vscode.MarkdownString(typeof m === "string" ? m : m.value);
const textEdit = (e) => new vscode.TextEdit(range(e.range), e.newText);

function diagnostic(d) {
  // The protocol counts severities from 1.
  const made = new vscode.Diagnostic(range(d.range), d.message, (d.severity || 1) - 1);
  made.source = d.source;
  made.code = d.codeDescription ? { value: d.code, target: vscode.Uri.parse(d.codeDescription.href) } : d.code;
  made.tags = d.tags;
  made.relatedInformation = (d.relatedInformation || []).map(
    (each) => new vscode.DiagnosticRelatedInformation(location(each.location), each.message));
  return made;
}

function workspaceEdit(edit) {
  const made = new vscode.WorkspaceEdit();
  const changes = Object.entries(edit.changes || {});
  for (const each of edit.documentChanges || []) changes.push([each.textDocument.uri, each.edits]);
  for (const [uri, edits] of changes) made.set(vscode.Uri.parse(uri), edits.map(textEdit));
  return made;
}

function completionItem(item) {
  // The protocol counts kinds from 1.
  const made = new vscode.CompletionItem(item.label, item.kind === undefined ? undefined : item.kind - 1);
  made.detail = item.detail;
  if (item.documentation) made.documentation = markdown(item.documentation);
  made.sortText = item.sortText;
  made.filterText = item.filterText;
  const text = item.textEdit ? item.textEdit.newText : item.insertText || item.label;
  made.insertText = item.insertTextFormat === 2 ? new vscode.SnippetString(text) : text;
  if (item.textEdit) made.range = range(item.textEdit.range);
  return made;
}

function signatureHelp(help) {
  const made = new vscode.SignatureHelp();
  made.activeSignature = help.activeSignature || 0;
  made.activeParameter = help.activeParameter || 0;
  made.signatures = help.signatures.map((each) => {
    const signature = new vscode.SignatureInformation(each.label, each.documentation && markdown(each.documentation));
    signature.parameters = (each.parameters || []).map(
      (p) => new vscode.ParameterInformation(p.label, p.documentation && markdown(p.documentation)));
    return signature;
  });
  return made;
}

function inlayHint(hint) {
  const made = new vscode.InlayHint(position(hint.position), hint.label, hint.kind);
  made.paddingLeft = hint.paddingLeft;
  made.paddingRight = hint.paddingRight;
  return made;
}

function documentSymbol(symbol) {
  const made = new vscode.DocumentSymbol(
    symbol.name, symbol.detail || "", symbol.kind - 1, range(symbol.range), range(symbol.selectionRange));
  made.children = (symbol.children || []).map(documentSymbol);
  return made;
}

function codeAction(action) {
  const made = new vscode.CodeAction(action.title, vscode.CodeActionKind.QuickFix);
  if (action.edit) made.edit = workspaceEdit(action.edit);
  made.isPreferred = action.isPreferred;
  return made;
}

function codeLens(lens) {
  const { title, command, arguments: args } = lens.command;
  return new vscode.CodeLens(range(lens.range), { title, command: "pdl.execute", arguments: [command, args] });
}

module.exports = {
  codeAction, codeLens, completionItem, diagnostic, documentSymbol, inlayHint, location, markdown, position, range,
  signatureHelp, textEdit, workspaceEdit,
};
