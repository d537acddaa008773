"""A client of the language server `pdl lsp`, for tests. Uses the standard library only."""

import json
import os
import subprocess
import threading
import queue


class Client:
    """Starts a server and exchanges messages with it."""

    def __init__(self, pdl, *arguments, env=None):
        self.process = subprocess.Popen([pdl, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **(env or {})})
        self.next_id = 0
        self.replies = {}
        self.notifications = []
        self.versions = {}
        self.incoming = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while True:
                line = stream.readline()
                if not line:
                    self.incoming.put(None)
                    return
                line = line.strip()
                if not line:
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.incoming.put(json.loads(stream.read(length)))

    def send_bytes(self, content):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def receive(self, timeout=60):
        """Reads one message. Returns False at the end of the output."""
        message = self.incoming.get(timeout=timeout)
        if message is None:
            return False
        if "method" in message:
            self.notifications.append(message)
            if "id" in message:
                self.send({"id": message["id"], "result": None})
        else:
            self.replies[json.dumps(message["id"])] = message
        return True

    def request_raw(self, method, params=None, **more):
        """Sends a request and returns the complete reply."""
        self.next_id += 1
        number = self.next_id
        self.send({"id": number, "method": method, **({} if params is None else {"params": params}), **more})
        return self.wait_for(number)

    def wait_for(self, number):
        while json.dumps(number) not in self.replies:
            assert self.receive(), "the server ended"
        return self.replies.pop(json.dumps(number))

    def request(self, method, params=None):
        """Sends a request and returns its result."""
        reply = self.request_raw(method, params)
        assert "error" not in reply, f"{method}: {reply['error']}"
        return reply["result"]

    def notify(self, method, params=None):
        self.send({"method": method, **({} if params is None else {"params": params})})

    def initialize(self, capabilities=None, **more):
        result = self.request("initialize", {"processId": None, "rootUri": None,
                                             "capabilities": capabilities or CAPABILITIES, **more})
        self.notify("initialized", {})
        return result

    def shutdown(self):
        """Ends the session and returns the exit status."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(timeout=60)

    # Documents.

    def open(self, uri, contents):
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "pdl", "version": 1,
                                                              "text": contents}})

    def change(self, uri, *changes):
        """Each change is a new content, or (start, end, replacement) with positions (line, column)."""
        self.versions[uri] += 1
        events = []
        for change in changes:
            if isinstance(change, str):
                events.append({"text": change})
            else:
                start, end, replacement = change
                events.append({"range": span(start, end), "text": replacement})
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": events})

    def close(self, uri):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri):
        """Waits for the diagnostics of the last version of the document."""
        while True:
            for message in self.notifications:
                if message["method"] != "textDocument/publishDiagnostics":
                    continue
                params = message["params"]
                if params["uri"] == uri and params.get("version") == self.versions.get(uri):
                    found = params["diagnostics"]
                    self.notifications.remove(message)
                    self.drop(uri)
                    return found
            assert self.receive(), "the server ended"

    def drop(self, uri):
        """Forgets the diagnostics of a document."""
        self.notifications = [m for m in self.notifications
                              if m["method"] != "textDocument/publishDiagnostics" or m["params"]["uri"] != uri]

    def wait_diagnostics(self, uri, condition):
        """Waits for diagnostics of the document that fulfill the condition."""
        while True:
            for message in list(self.notifications):
                if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                    self.notifications.remove(message)
                    if condition(message["params"]["diagnostics"]):
                        return message["params"]["diagnostics"]
            assert self.receive(), "the server ended"

    def at(self, method, uri, position, **more):
        return self.request(method, {"textDocument": {"uri": uri}, "position": place(position), **more})


def place(position):
    return {"line": position[0], "character": position[1]}


def span(start, end):
    return {"start": place(start), "end": place(end)}


def edges(range_):
    """((line, column), (line, column)) of a range."""
    return tuple((range_[end]["line"], range_[end]["character"]) for end in ("start", "end"))


CAPABILITIES = {
    "workspace": {"inlayHint": {"refreshSupport": True}, "workspaceEdit": {"documentChanges": False}},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {}},
        "completion": {"completionItem": {"snippetSupport": True}},
    },
}
