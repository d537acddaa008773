// Run by test_editors.py: node vscode.js EXTENSION FILE
// The extension with a stub of the module `vscode` that has one open document; prints what it provides as JSON.
"use strict";

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const Module = require("module");

const [extensionPath, filePath] = process.argv.slice(2);

// A class whose constructor stores its arguments under these names.
function record(...names) {
  return class {
    constructor(...values) {
      names.forEach((name, i) => (this[name] = values[i]));
    }
  };
}

class Event {
  constructor() {
    this.listeners = [];
    this.listen = (listener) => {
      this.listeners.push(listener);
      return { dispose: () => (this.listeners = this.listeners.filter((each) => each !== listener)) };
    };
  }
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
}

class WorkspaceEdit {
  constructor() {
    this.changes = {};
  }
  set(uri, edits) {
    this.changes[uri.toString()] = edits;
  }
}

const events = { open: new Event(), change: new Event(), close: new Event() };
const providers = {};
const commands = {};
const diagnostics = new Map();
const messages = [];
const onMessage = (message) => messages.push(message);

const document = {
  uri: { toString: () => pathToFileURL(filePath).href },
  languageId: "pdl",
  version: 1,
  text: fs.readFileSync(filePath, "utf8"),
  getText() {
    return this.text;
  },
  offset({ line, character }) {
    return this.text.split("\n").slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  },
  // Applies edits, the last one first, and tells the extension.
  apply(edits) {
    const sorted = [...edits].sort((a, b) => this.offset(b.range.start) - this.offset(a.range.start));
    for (const { range, newText } of sorted)
      this.text = this.text.slice(0, this.offset(range.start)) + newText + this.text.slice(this.offset(range.end));
    this.version += 1;
    events.change.fire({ document: this, contentChanges: sorted.map(({ range, newText }) => ({ range, text: newText })) });
  },
};

const stub = {
  Position: record("line", "character"),
  Range: record("start", "end"),
  Location: record("uri", "range"),
  Uri: { parse: (text) => ({ toString: () => text }) },
  Diagnostic: record("range", "message", "severity"),
  DiagnosticRelatedInformation: record("location", "message"),
  MarkdownString: record("value"),
  Hover: record("contents", "range"),
  TextEdit: record("range", "newText"),
  WorkspaceEdit,
  CompletionItem: record("label", "kind"),
  CompletionList: record("items", "isIncomplete"),
  SnippetString: record("value"),
  SignatureHelp: record(),
  SignatureInformation: record("label", "documentation"),
  ParameterInformation: record("label", "documentation"),
  InlayHint: record("position", "label", "kind"),
  DocumentHighlight: record("range", "kind"),
  DocumentSymbol: record("name", "detail", "kind", "range", "selectionRange"),
  FoldingRange: record("start", "end", "kind"),
  CodeAction: record("title", "kind"),
  CodeActionKind: { QuickFix: "quickfix" },
  CodeLens: record("range", "command"),
  SemanticTokens: record("data"),
  SemanticTokensLegend: record("types", "modifiers"),
  languages: new Proxy({
    createDiagnosticCollection: () => ({
      set: (uri, list) => diagnostics.set(uri.toString(), list), clear: () => diagnostics.clear(), dispose() {},
    }),
  }, {
    get: (target, name) => target[name] || ((language, provider) => {
      Object.assign(providers, provider);
      return { dispose() {} };
    }),
  }),
  workspace: {
    workspaceFolders: [{ uri: { toString: () => pathToFileURL(path.dirname(filePath)).href } }],
    textDocuments: [document],
    getConfiguration: () => ({ get: (name, otherwise) => (name === "command" ? process.env.PDL : otherwise) }),
    onDidOpenTextDocument: events.open.listen,
    onDidChangeTextDocument: events.change.listen,
    onDidCloseTextDocument: events.close.listen,
    createFileSystemWatcher: () => {
      const none = () => ({ dispose() {} });
      return { onDidCreate: none, onDidChange: none, onDidDelete: none, dispose() {} };
    },
  },
  window: { showErrorMessage: onMessage, showWarningMessage: onMessage, showInformationMessage: onMessage },
  commands: {
    registerCommand: (name, run) => {
      commands[name] = run;
      return { dispose() {} };
    },
  },
};

const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? stub : load(name, ...more));

async function until(what, condition) {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > 30000) throw new Error(`no ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const current = () => diagnostics.get(document.uri.toString());
const token = { onCancellationRequested: () => ({ dispose() {} }) };
const at = (line, character) => new stub.Position(line, character);

async function drive(extension) {
  await extension.activate({ subscriptions: [] });
  if (messages.length) return { messages };
  await until("diagnostics", () => current());
  const seen = {};
  seen.diagnostics = current().map(({ message, code, severity, range }) => ({ message, code, severity, range }));
  const actions = await providers.provideCodeActions(document, current()[0].range, { diagnostics: current() }, token);
  seen.fix = actions[0].title;
  const items = await providers.provideCompletionItems(document, at(2, 8), token);
  seen.completion = items.items.map(({ label, insertText }) => [label, insertText.value || insertText]);
  document.apply(actions[0].edit.changes[document.uri.toString()]);
  await until("repair", () => current().length === 0);
  seen.hover = (await providers.provideHover(document, at(1, 2), token)).contents.value;
  seen.definition = (await providers.provideDefinition(document, at(2, 13), token)).map(({ range }) => range.start);
  seen.references = (await providers.provideReferences(
    document, at(1, 2), { includeDeclaration: true }, token)).length;
  seen.highlights = (await providers.provideDocumentHighlights(document, at(1, 2), token)).length;
  const hints = await providers.provideInlayHints(document, new stub.Range(at(0, 0), at(9, 0)), token);
  seen.hints = hints.map(({ label }) => label);
  seen.signature = (await providers.provideSignatureHelp(document, at(2, 12), token)).signatures[0].label;
  seen.symbols = (await providers.provideDocumentSymbols(document, token)).map(({ name }) => name);
  seen.folds = (await providers.provideFoldingRanges(document, {}, token)).length;
  seen.tokens = (await providers.provideDocumentSemanticTokens(document, token)).data.length / 5;
  const lenses = await providers.provideCodeLenses(document, token);
  await commands["pdl.execute"](...lenses[0].command.arguments);
  await until("result of the test", () => messages.length);
  seen.messages = messages;
  seen.nothing = await providers.provideHover(document, at(40, 0), token) === undefined;
  const prepared = await providers.prepareRename(document, at(1, 2), token);
  seen.placeholder = prepared.placeholder;
  seen.rejected = await providers.prepareRename(document, at(2, 6), token).catch((error) => error.message);
  const renamed = await providers.provideRenameEdits(document, at(1, 2), "inner", token);
  document.apply(renamed.changes[document.uri.toString()]);
  document.apply(await providers.provideDocumentFormattingEdits(document, {}, token));
  seen.text = document.text;
  await commands["pdl.restart"]();
  await until("diagnostics after a restart", () => current());
  await extension.deactivate();
  return seen;
}

drive(require(extensionPath)).then(
  (seen) => console.log(JSON.stringify(seen)),
  (error) => {
    console.error(error);
    process.exit(1);
  });
