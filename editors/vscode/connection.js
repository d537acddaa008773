// JSON-RPC with a language server, over the standard streams of its process.
"use strict";

const { spawn } = require("child_process");

const HEADER_END = Buffer.from("\r\n\r\n");

class Connection {
  // Starts `command`. `handlers` has a function for each notification of the server, by method; `onEnd(reason)` is called
  // once, when the process ends or cannot be started, and all open requests are rejected then.
  constructor(command, args, handlers, onEnd) {
    this.handlers = handlers;
    this.onEnd = onEnd;
    this.pending = new Map();
    this.nextId = 1;
    this.received = Buffer.alloc(0);
    this.ended = false;
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.errors = "";
    this.process.stdout.on("data", (bytes) => this.receive(bytes));
    this.process.stderr.on("data", (bytes) => {
      this.errors = (this.errors + bytes).slice(-2000);
    });
    // A write to a server that has ended.
    this.process.stdin.on("error", () => {});
    this.process.on("error", (error) => this.end(error.message));
    this.process.on("close", (status) => this.end(`it ended with status ${status}${this.errors && ": " + this.errors}`));
  }

  end(reason) {
    if (this.ended) return;
    this.ended = true;
    for (const { reject } of this.pending.values()) reject(new Error(reason));
    this.pending.clear();
    this.onEnd(reason);
  }

  send(message) {
    if (this.ended) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  // Resolves to the result; rejects with the server's message. `token` is a CancellationToken of VS Code, or undefined.
  request(method, params, token) {
    if (this.ended) return Promise.reject(new Error("the language server is not running"));
    const id = this.nextId++;
    const reply = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.send({ id, method, params });
    const cancel = token && token.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
    return cancel ? reply.finally(() => cancel.dispose()) : reply;
  }

  receive(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const end = this.received.indexOf(HEADER_END);
      if (end < 0) return;
      const length = /^Content-Length: (\d+)$/im.exec(this.received.toString("ascii", 0, end));
      const begin = end + HEADER_END.length;
      if (!length) {
        this.received = this.received.subarray(begin);
        continue;
      }
      const bodyEnd = begin + Number(length[1]);
      if (this.received.length < bodyEnd) return;
      const body = this.received.toString("utf8", begin, bodyEnd);
      this.received = this.received.subarray(bodyEnd);
      this.dispatch(JSON.parse(body));
    }
  }

  dispatch(message) {
    if (message.method === undefined) {
      const request = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (!request) return;
      if (message.error) request.reject(new Error(message.error.message));
      else request.resolve(message.result);
      return;
    }
    const handler = this.handlers[message.method];
    const result = handler ? handler(message.params) : undefined;
    // The server's own requests, such as the registration of file watchers, need an answer.
    if (message.id !== undefined) this.send({ id: message.id, result: result === undefined ? null : result });
  }

  // Ends the server in order.
  async stop() {
    if (this.ended) return;
    try {
      await this.request("shutdown");
    } catch {
      return;
    }
    this.notify("exit");
    this.process.stdin.end();
  }
}

module.exports = { Connection };
