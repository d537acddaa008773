// A client of `pdl lsp` for VS Code, without other packages.
"use strict";

const vscode = require("vscode");
const { Connection } = require("./connection");
const convert = require("./convert");

const LANGUAGE = "pdl";
const FOLDING_KINDS = { comment: 1, imports: 2, region: 3 };

class Client {
  constructor() {
    this.collection = vscode.languages.createDiagnosticCollection(LANGUAGE);
    // The diagnostics of the server by the objects that VS Code shows, for quick fixes.
    this.published = new WeakMap();
    this.subscriptions = [this.collection];
    this.connection = null;
  }

  async start() {
    const settings = vscode.workspace.getConfiguration("pdl.server");
    const command = settings.get("command", "pdl");
    const connection = new Connection(command, settings.get("arguments", ["lsp"]), {
      "textDocument/publishDiagnostics": (params) => this.publish(params),
      "window/showMessage": ({ type, message }) => show(type, message),
    }, (reason) => {
      if (this.connection === connection) show(1, `'${command}', the language server of pdl, is not running: ${reason}`);
    });
    this.connection = connection;
    const folders = vscode.workspace.workspaceFolders || [];
    const result = await connection.request("initialize", {
      processId: process.pid,
      rootUri: folders.length ? folders[0].uri.toString() : null,
      capabilities: CAPABILITIES,
    });
    connection.notify("initialized", {});
    for (const document of vscode.workspace.textDocuments) this.open(document);
    return result.capabilities;
  }

  async stop() {
    const connection = this.connection;
    this.connection = null;
    this.collection.clear();
    if (connection) await connection.stop();
  }

  publish({ uri, diagnostics }) {
    this.collection.set(vscode.Uri.parse(uri), diagnostics.map((each) => {
      const made = convert.diagnostic(each);
      this.published.set(made, each);
      return made;
    }));
  }

  // --- Documents

  open(document) {
    if (document.languageId !== LANGUAGE || !this.connection) return;
    this.connection.notify("textDocument/didOpen", {
      textDocument: {
        uri: document.uri.toString(), languageId: LANGUAGE, version: document.version, text: document.getText(),
      },
    });
  }

  change({ document, contentChanges }) {
    if (document.languageId !== LANGUAGE || !this.connection || !contentChanges.length) return;
    this.connection.notify("textDocument/didChange", {
      textDocument: { uri: document.uri.toString(), version: document.version },
      contentChanges: contentChanges.map(({ range, text }) => ({ range, text })),
    });
  }

  close(document) {
    if (document.languageId !== LANGUAGE || !this.connection) return;
    this.connection.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
  }

  filesChanged(uri, type) {
    if (this.connection)
      this.connection.notify("workspace/didChangeWatchedFiles", { changes: [{ uri: uri.toString(), type }] });
  }

  // --- Requests

  // The converted result of a request about a document; undefined if there is none.
  async ask(method, document, params, token, made) {
    if (!this.connection) return undefined;
    const textDocument = { uri: document.uri.toString() };
    const result = await this.connection.request(method, { textDocument, ...params }, token);
    return result === null || result === undefined ? undefined : made(result);
  }

  askEach(method, document, params, token, made) {
    return this.ask(method, document, params, token, (results) => results.map(made));
  }

  watch() {
    const { workspace } = vscode;
    const watcher = workspace.createFileSystemWatcher("**/*.pdl");
    this.subscriptions.push(
      workspace.onDidOpenTextDocument((document) => this.open(document)),
      workspace.onDidChangeTextDocument((event) => this.change(event)),
      workspace.onDidCloseTextDocument((document) => this.close(document)),
      watcher,
      watcher.onDidCreate((uri) => this.filesChanged(uri, 1)),
      watcher.onDidChange((uri) => this.filesChanged(uri, 2)),
      watcher.onDidDelete((uri) => this.filesChanged(uri, 3)));
  }

  registerProviders(server) {
    const { languages } = vscode;
    const add = (kind, provider, ...more) =>
      this.subscriptions.push(languages[`register${kind}Provider`](LANGUAGE, provider, ...more));
    const at = (method, made) => (document, position, token) =>
      this.ask(`textDocument/${method}`, document, { position }, token, made);
    const list = (method, made) => (document, token) =>
      this.askEach(`textDocument/${method}`, document, {}, token, made);

    add("Hover", { provideHover: at("hover", (hover) =>
      new vscode.Hover(convert.markdown(hover.contents), hover.range && convert.range(hover.range))) });
    add("Definition", { provideDefinition: at("definition", (found) => found.map(convert.location)) });
    add("DocumentHighlight", { provideDocumentHighlights: at("documentHighlight", (found) => found.map(
      (each) => new vscode.DocumentHighlight(convert.range(each.range), each.kind - 1))) });
    add("Reference", { provideReferences: (document, position, context, token) => this.askEach(
      "textDocument/references", document, { position, context }, token, convert.location) });
    add("CompletionItem", { provideCompletionItems: at("completion", ({ items, isIncomplete }) =>
      new vscode.CompletionList(items.map(convert.completionItem), isIncomplete)) },
      ...((server.completionProvider || {}).triggerCharacters || []));
    add("SignatureHelp", { provideSignatureHelp: at("signatureHelp", convert.signatureHelp) },
      ...((server.signatureHelpProvider || {}).triggerCharacters || []));
    add("InlayHints", { provideInlayHints: (document, range, token) => this.askEach(
      "textDocument/inlayHint", document, { range }, token, convert.inlayHint) });
    add("Rename", {
      prepareRename: at("prepareRename", ({ range, placeholder }) => ({ range: convert.range(range), placeholder })),
      provideRenameEdits: (document, position, newName, token) => this.ask(
        "textDocument/rename", document, { position, newName }, token, convert.workspaceEdit),
    });
    add("DocumentFormattingEdit", { provideDocumentFormattingEdits: (document, options, token) => this.askEach(
      "textDocument/formatting", document, { options }, token, convert.textEdit) });
    add("DocumentSymbol", { provideDocumentSymbols: list("documentSymbol", convert.documentSymbol) });
    add("FoldingRange", { provideFoldingRanges: (document, context, token) => this.askEach(
      "textDocument/foldingRange", document, {}, token,
      ({ startLine, endLine, kind }) => new vscode.FoldingRange(startLine, endLine, FOLDING_KINDS[kind])) });
    add("CodeActions", { provideCodeActions: (document, range, context, token) => this.askEach(
      "textDocument/codeAction", document, { range, context: { diagnostics: context.diagnostics.flatMap(
        (each) => this.published.get(each) || []) } }, token, convert.codeAction) });
    add("CodeLens", { provideCodeLenses: list("codeLens", convert.codeLens) });
    const { tokenTypes, tokenModifiers } = server.semanticTokensProvider.legend;
    add("DocumentSemanticTokens", { provideDocumentSemanticTokens: (document, token) => this.ask(
      "textDocument/semanticTokens/full", document, {}, token,
      ({ data }) => new vscode.SemanticTokens(new Uint32Array(data))) },
      new vscode.SemanticTokensLegend(tokenTypes, tokenModifiers));
  }
}

const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
    hover: { contentFormat: ["markdown"] },
    signatureHelp: { signatureInformation: { documentationFormat: ["markdown"] } },
    publishDiagnostics: { relatedInformation: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
    rename: { prepareSupport: true },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
  },
};

function show(type, message) {
  const { window } = vscode;
  if (type === 1) window.showErrorMessage(message);
  else if (type === 2) window.showWarningMessage(message);
  else window.showInformationMessage(message);
}

let client = null;

async function activate(context) {
  client = new Client();
  context.subscriptions.push({ dispose: () => client.subscriptions.forEach((each) => each.dispose()) });
  const { commands } = vscode;
  client.subscriptions.push(
    commands.registerCommand("pdl.restart", async () => {
      await client.stop();
      await client.start();
    }),
    commands.registerCommand("pdl.execute", (command, args) =>
      client.connection.request("workspace/executeCommand", { command, arguments: args })));
  client.watch();
  try {
    client.registerProviders(await client.start());
  } catch {
    // The user was told by the connection.
  }
}

async function deactivate() {
  if (client) await client.stop();
}

module.exports = { activate, deactivate };
