// The source, beside the picture.

const sourceText = document.getElementById('text');
// As SemanticToken::Kind.
const wordColors = ['keyword', 'comment', 'string', 'number', '', 'type', 'name', 'name', 'string', '', '', '', '', '', 'type', ''];
let shownFile = -1;

/// The locations from the innermost outwards.
function* locationsOf(location) {
  for (let at = location; at >= 0 && at !== undefined; at = locations[at][3]) yield locations[at];
}

/// The words of a file as the elements of its lines.
function linesOfFile(file) {
  const lines = [];
  let line;
  const begin = () => {
    line = element('div', 'line', element('i', '', String(lines.length + 1)));
    line.dataset.line = lines.length + 1;
    lines.push(line);
  };
  const add = (text, color) => {
    text.split('\n').forEach((part, i) => {
      if (i) begin();
      if (!part) return;
      const span = element('span', '', part);
      if (color) span.style.color = `var(--${color})`;
      line.append(span);
    });
  };
  begin();
  let at = 0;
  for (let i = 0; i < file.words.length; i += 3) {
    add(file.text.substr(at, file.words[i]));
    at += file.words[i];
    add(file.text.substr(at, file.words[i + 1]), wordColors[file.words[i + 2]]);
    at += file.words[i + 1];
  }
  add(file.text.slice(at));
  return lines;
}

function showFile(index) {
  if (index === shownFile) return;
  shownFile = index;
  const file = files[index];
  sourceText.replaceChildren(...file.text === null ? [element('p', '', 'The source is not part of this page.')] :
      file.lines || (file.lines = linesOfFile(file)));
  for (const button of document.getElementById('files').children)
    button.setAttribute('aria-pressed', String(+button.dataset.file === index));
}

/// Marks the lines of a location and of those that it was expanded from, and shows the innermost one.
function showLocation(location) {
  for (const line of sourceText.querySelectorAll('.on')) line.classList.remove('on');
  if (location === undefined || location < 0) return;
  const path = [...locationsOf(location)];
  showFile(path[0][0]);
  for (const line of sourceText.querySelectorAll('.on')) line.classList.remove('on');
  const lines = files[shownFile].lines;
  if (!lines) return;
  for (const [file, line] of path)
    if (file === shownFile && lines[line - 1]) lines[line - 1].classList.add('on');
  const first = lines[path[0][1] - 1];
  if (first) sourceText.scrollTop = first.offsetTop - sourceText.offsetTop - sourceText.clientHeight / 3;
}

// From "file:line" to the calls, inputs and outputs that come from there, and the number of calls inside a box.
const nodesAt = new Map();
const callsInside = new Map();
function indexLines() {
  for (const node of nodes) {
    if (node.k === Kind.call) for (const owner of owners(node)) callsInside.set(owner, (callsInside.get(owner) || 0) + 1);
    if (node.k !== Kind.call && node.owner) continue;
    const all = [node.l, ...(node.k === Kind.call && node.p || []).map((value) => values[value][3])];
    for (const location of all)
      for (const [file, line] of locationsOf(location)) {
        const key = file + ':' + line;
        if (!nodesAt.has(key)) nodesAt.set(key, new Set());
        nodesAt.get(key).add(node);
      }
  }
}

/// The nodes of a line: instead of all calls of a box, the box.
function nodesOfLine(file, line) {
  if (!nodesAt.size) indexLines();
  const found = nodesAt.get(file + ':' + line) || new Set(), counts = new Map();
  for (const node of found)
    if (node.k === Kind.call) for (const owner of owners(node)) counts.set(owner, (counts.get(owner) || 0) + 1);
  const covering = new Set();
  for (const node of found) {
    let box = node;
    for (const owner of owners(node)) if (counts.get(owner) === callsInside.get(owner)) box = owner;
    covering.add(box);
  }
  return [...covering];
}

function startSource() {
  const list = document.getElementById('files');
  files.forEach((file, index) => {
    if (file.text === null) return;
    const button = element('button', '', file.name);
    button.dataset.file = index;
    button.addEventListener('click', () => showFile(index));
    list.append(button);
  });
  const first = files.findIndex((file) => file.text !== null);
  if (first < 0) return;
  document.getElementById('source').hidden = false;
  showFile(first);
  sourceText.addEventListener('click', (event) => {
    const line = event.target.closest('.line');
    if (!line) return;
    const [first, ...others] = nodesOfLine(shownFile, +line.dataset.line);
    if (!first) return;
    view.also = new Set(others);
    reveal(first, {keepSource: true});
    for (const one of sourceText.querySelectorAll('.on')) one.classList.remove('on');
    line.classList.add('on');
  });
}
