#!/usr/bin/env python3
"""Opens pages of `pdl view` in headless Chromium: opens layers, searches, and clicks through to the source.

    browser.py PDL ROOT [SCREENSHOTS]

With a folder SCREENSHOTS, pictures of the pages are written there, at two widths, light and dark. Without Chromium,
nothing is tested. Chromium is controlled through a pair of pipes (--remote-debugging-pipe): each message of the
DevTools protocol ends with a NUL.
"""

import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MODEL = "test/conformance/onnx/transformer.onnx"
NAMES = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = """## "</script><script>document.title='bad'</script>"
input x: f32[N, 4]  # <img src=x onerror="document.title='bad'"> \u2028
layer box(x: F[N, 4]) {
  a = relu(x)  # ]]> <!-- \\u003c/script>
  return cos(a)
}
output y = box(x)
"""
# Names for an ONNX model, in which any string is a name.
HOSTILE_NAMES = ("</script><script>document.title='bad'</script>", "<img src=x onerror=\"document.title='bad'\">",
                 "a'\"b\\\u202ec", "javascript:document.title='bad'")
HOSTILE_FILE = "'\"<img src=x onerror=document.title=1>\u202e.onnx"


def field(number, value):
    """A field of a protobuf message: an integer, a string, or the bytes of a message."""
    def varint(rest):
        return bytes([rest]) if rest < 128 else bytes([rest % 128 + 128]) + varint(rest // 128)
    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number * 8 + 2) + varint(len(data)) + data


def hostile_model():
    """An ONNX model, y = cos(relu(x)), with HOSTILE_NAMES as names of values, nodes, the graph and a size."""
    script, image, turned, link = HOSTILE_NAMES

    def value(name):
        size = field(1, field(2, image))  # a dim with that symbol
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, size)))

    def node(kind, name, read, made):
        return field(1, read) + field(2, made) + field(3, name) + field(4, kind) + field(6, script)

    graph = (field(1, node("Relu", image, script, turned)) + field(1, node("Cos", script, turned, image)) +
             field(2, link) + field(10, script) + field(11, value(script)) + field(12, value(image)))
    return field(1, 8) + field(2, script) + field(8, field(2, 17)) + field(7, graph)


class Browser:
    """A page in Chromium."""

    def __init__(self, program, folder):
        to_read, self.write_to = os.pipe()
        self.read_from, to_write = os.pipe()

        def use_pipes():
            # The pipes may have the numbers 3 and 4, which the program reads and writes, in another order.
            high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (to_read, to_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        arguments = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                     "--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(arguments, close_fds=False, preexec_fn=use_pipes, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.left, self.count, self.events = b"", 0, []
        target = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result; events until then are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.left:
            more = os.read(self.read_from, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.left += more
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def run(self, script):
        """The value of a JavaScript expression; the page's own constants are visible."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {json.dumps(answer['exceptionDetails'])[:400]}")
        return answer["result"].get("value")

    def open(self, path, width=1400, height=900, scheme="light"):
        """Opens a file, and returns the milliseconds until the page was ready."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        return int(self.run("document.documentElement.dataset.ready"))

    def click(self, selector, index=0):
        """Clicks the middle of an element, as a user does."""
        x, y = self.run(f"(() => {{ const at = document.querySelectorAll({json.dumps(selector)})[{index}]"
                        ".getBoundingClientRect(); return [at.left + at.width / 2, at.top + at.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode={"Enter": 13}[name])

    def problems(self):
        """Errors of the script, violations of its policy, and requests other than for the page."""
        found = []
        for event in self.events:
            kind, details = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                found.append(json.dumps(details)[:400])
            if kind == "Log.entryAdded" and details["entry"]["level"] == "error":
                found.append(details["entry"]["text"])
            if kind == "Network.requestWillBeSent" and not details["request"]["url"].endswith(".html"):
                found.append("request of " + details["request"]["url"])
        return found

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()


def check(condition, text):
    if not condition:
        sys.exit("browser.py: " + text)


def check_layout(browser):
    """The boxes of a level do not overlap, and edges begin and end at their boxes."""
    wrong = browser.run("""(() => {
      const wrong = [];
      const isAt = (x, y, box, edge) => Math.abs(x - box.cx) <= box.w / 2 + 3 && Math.abs(y - edge) <= 1;
      const visit = (placed, level) => {
        placed.boxes.forEach((a, i) => {
          if (a.inner) visit(a.inner, levels[a.node.v]);
          for (const b of placed.boxes.slice(i + 1))
            if (a.x < b.x + b.w - 1 && b.x < a.x + a.w - 1 && a.y < b.y + b.h - 1 && b.y < a.y + a.h - 1)
              wrong.push(`${a.node.t} and ${b.node.t} overlap`);
        });
        placed.curves.forEach((curve, i) => {
          const [from, to] = level.e[i].map((one) => placed.boxes[one]), n = curve.length;
          if (!isAt(curve[0], curve[1], from, from.y + from.h) || !isAt(curve[n - 2], curve[n - 1], to, to.y))
            wrong.push(`the edge from ${from.node.t} to ${to.node.t}`);
        });
      };
      visit(placeLevel(0, view.open), levels[0]);
      return wrong;
    })()""")
    check(wrong == [], str(wrong))


def test_gpt2(browser, page):
    """Opens a layer, searches, and clicks from a box to the source and back."""
    ready = browser.open(page)
    check(page.stat().st_size <= 2_000_000, f"the page of GPT-2 has {page.stat().st_size} bytes")
    print(f"GPT-2: {page.stat().st_size} bytes, ready after {ready} ms")
    before = browser.run("view.drawn.size")
    browser.click(".node.layer .toggle")
    inside = browser.run("document.querySelectorAll('.node.open .node.layer').length")
    check(inside == 12, f"the open box shows {inside} layers, not 12")
    check(browser.run("view.drawn.size") > before, "no box was opened")
    browser.click(".node.open > .toggle")
    check(browser.run("view.drawn.size") == before, "the box was not closed")

    browser.click("#search")
    browser.type("h.3.x.self_attention.y")
    check(browser.run("document.querySelectorAll('#found button').length") >= 1, "nothing is found")
    browser.key("Enter")
    check(browser.run("titleOf(view.selected)") == "attention", "the search does not select the call")
    rect = browser.run("(() => { const r = document.querySelector('.selected').getBoundingClientRect();"
                       " return r.top > 0 && r.bottom < innerHeight; })()")
    check(rect, "the call that was found is not visible")
    marked = browser.run("document.querySelector('.line.on') && document.querySelector('.line.on').textContent")
    check(marked is not None and "attention(" in marked, f"the source line of the call is not marked: {marked}")
    check("f32[N, 12, T, 64]" in browser.run("details.textContent"), "the details have no type")

    # From a line of the source to its box.
    line = browser.run("[...document.querySelectorAll('.line')].findIndex((one) => one.textContent.includes('fc('))")
    browser.run(f"document.querySelectorAll('.line')[{line}].scrollIntoView({{block: 'center'}})")
    browser.click(".line", line)
    check(browser.run("view.selected && view.selected.t === 'q.fc' && view.also.size === 11"), "the line does not select its layer")
    check(browser.run("view.drawn.has(view.selected)"), "the layer of the line is not visible")

    browser.click("#theme")
    check(browser.run("getComputedStyle(document.body).colorScheme !== ''"), "no color scheme")
    browser.click("#open-all")
    check(browser.run("view.drawn.size") > 400, "not all boxes are open")
    check_layout(browser)
    check(browser.problems() == [], str(browser.problems()))


def check_harmless(browser, title):
    """Selects and searches everything on a page: it runs no script but its own, has no element that a name made, and
    no character that reorders text."""
    check(browser.run("document.title") == title, "the title: " + browser.run("document.title"))
    browser.click("#open-all")
    for node in range(browser.run("nodes.length")):
        browser.run(f"select(nodes[{node}])")
    for text in ("<", "bad", "'"):
        browser.run("search.value = ''")
        browser.click("#search")
        browser.type(text)
    check(browser.run("document.title") == title, "a name was run")
    check(browser.run("document.querySelectorAll('img, b, iframe, script:not([type])').length") == 1,
          "the page has other elements")
    check(browser.run("[...document.querySelectorAll('[href]')].every((one) => !one.href.includes('javascript:'))"),
          "a name is a link")
    turning = "/[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/"
    check(not browser.run(turning + ".test(document.body.innerText) || " + turning + ".test(document.title)"),
          "a character that reorders text is shown")
    check(browser.problems() == [], str(browser.problems()))


def test_hostile(browser, page):
    browser.open(page)
    check_harmless(browser, "hostile <b>.pdl")
    check("<img src=x" in browser.run("sourceText.textContent"), "the source is not shown")
    check("⟨U+202E⟩" in browser.run("sourceText.textContent"), "a character that turns text is not shown")


def test_hostile_model(browser, page):
    browser.open(page)
    check_harmless(browser, HOSTILE_FILE.replace("\u202e", "⟨U+202E⟩"))
    check(browser.run("JSON.stringify(data).includes('document_title_bad')"), "the names are not shown")
    check(browser.run("nodes.filter((node) => node.t === 'relu' || node.t === 'cos').length") == 2, "the page has no calls")


def write_page(pdl, source, page, *options):
    subprocess.run([pdl, "view", *options, source, "-o", page], check=True)


def main():
    pdl, root = sys.argv[1], pathlib.Path(sys.argv[2])
    program = next((path for path in map(shutil.which, NAMES) if path), None)
    if program is None:
        print("browser.py: skipped, there is no Chromium")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        hostile = folder / "hostile <b>.pdl"
        hostile.write_text(HOSTILE.replace("relu(x)  #", "relu(x)  # \u202e"))
        write_page(pdl, hostile, folder / "hostile.html")
        (folder / HOSTILE_FILE).write_bytes(hostile_model())
        write_page(pdl, folder / HOSTILE_FILE, folder / "hostile_onnx.html")
        for name in ("gpt2", "resnet", "seq2seq", "unet"):
            write_page(pdl, root / f"examples/{name}/{name}.pdl", folder / f"{name}.html")
        write_page(pdl, root / MODEL, folder / "model.html")
        browser = Browser(program, folder / "profile")
        try:
            test_gpt2(browser, folder / "gpt2.html")
            test_hostile(browser, folder / "hostile.html")
            test_hostile_model(browser, folder / "hostile_onnx.html")
            for name in ("resnet", "seq2seq", "unet", "model"):
                browser.open(folder / f"{name}.html")
                browser.click("#open-all")
                check_layout(browser)
                check(browser.problems() == [], str(browser.problems()))
            if len(sys.argv) > 3:
                take_screenshots(browser, folder, pathlib.Path(sys.argv[3]))
        finally:
            browser.close()
    print("browser.py: all passed")


def take_screenshots(browser, folder, target):
    target.mkdir(parents=True, exist_ok=True)
    for name in ("gpt2", "resnet", "unet", "model", "hostile_onnx"):
        page = folder / f"{name}.html"
        for width, scheme in ((1400, "light"), (1400, "dark"), (700, "light"), (700, "dark")):
            ready = browser.open(page, width=width, scheme=scheme)
            browser.run("(() => { const box = nodes.find((node) => node.v !== undefined); if (!box) return;"
                        " view.open.add(box); reveal(nodes[levels[box.v].f + 1]); })()")
            browser.screenshot(target / f"{name}-{width}-{scheme}.png")
        print(f"{name}: {page.stat().st_size} bytes, ready after {ready} ms")


if __name__ == "__main__":
    main()
