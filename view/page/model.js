'use strict';
// The data of the page, and the tree of its nodes.
//
// nodes: k kind, t title, s lines, w and h the size, l a location, v the level inside, p variables, r results,
//   o operands; for calls also a, attributes, and path, the layer. Values and locations are indices.
// levels: f the first of n consecutive nodes, p a placement, e edges: from, to (nodes of the level), values.
// placements: w and h the size, c the centers x, y of the boxes, e the curve of each edge.
// values: name, type, kind, location, and for variables the size, for constants the value.
// files: name, text, words. locations: file, line, column, the location that it was expanded from.
// facts: what `pdl view` measured; see Facts.

const data = JSON.parse(document.getElementById('data').textContent);
const {nodes, levels, placements, values, types, files, locations} = data;
const Kind = {input: 0, call: 1, layer: 2, part: 3, output: 4, update: 5, training: 6};
const kindNames = ['input', 'call', 'layer', 'part', 'output', 'update', 'training'];
const valueKinds = ['', 'input', 'param', 'state'];

nodes.forEach((node, id) => { node.id = id; node.owner = null; });
levels.forEach((level, index) => {
  for (let i = 0; i < level.n; ++i) nodes[level.f + i].level = index;
});
for (const node of nodes)
  if (node.v !== undefined)
    for (let i = 0; i < levels[node.v].n; ++i) nodes[levels[node.v].f + i].owner = node;

/// The nodes from the one that contains `node` outwards.
function* owners(node) {
  for (let owner = node.owner; owner; owner = owner.owner) yield owner;
}

const nameOf = (value) => values[value][0];
const typeOf = (value) => types[values[value][1]];

// From values to the calls or inputs that compute them, and to the calls that read them.
const producers = new Map();
const readers = new Map();
for (const node of nodes) {
  const isInput = node.k === Kind.input && !node.owner;
  if (node.k !== Kind.call && !isInput) continue;
  for (const value of node.r || []) producers.set(value, node);
  for (const value of node.o || []) {
    if (!readers.has(value)) readers.set(value, []);
    readers.get(value).push(node);
  }
}

/// A text in which characters that are invisible or change the direction of text are shown by their code points.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
      (c) => '⟨U+' + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + '⟩');
}

/// An HTML element with a class and contents: strings, which are never interpreted, and elements.
function element(tag, className, ...contents) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const one of contents) made.append(typeof one === 'string' ? visible(one) : one);
  return made;
}

function formatBytes(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; ++unit) bytes /= 1000;
  return (unit ? bytes.toPrecision(3) : bytes) + ' ' + units[unit];
}

function formatTime(seconds) {
  if (seconds >= 1) return seconds.toPrecision(3) + ' s';
  return seconds >= 1e-3 ? (seconds * 1e3).toPrecision(3) + ' ms' : (seconds * 1e6).toPrecision(3) + ' µs';
}

/// What was measured, by node; boxes have the sum or the maximum of what is inside, or know that it is inside.
const Facts = {
  times: new Map(), live: new Map(), statistics: new Map(), deviations: new Map(),
  bad: new Set(), different: new Set(), differences: new Map(), inside: {bad: new Set(), different: new Set(), differences: new Set()},
};
(function readFacts(facts) {
  const spread = (node, map, amount, join) => {
    for (const one of [node, ...owners(node)]) map.set(one, join(map.get(one) || 0, amount));
  };
  for (const [id, seconds] of facts.times || [])
    if (id >= 0) spread(nodes[id], Facts.times, seconds, (a, b) => a + b);
  for (const [id, bytes] of facts.live || []) spread(nodes[id], Facts.live, bytes, Math.max);
  const mark = (node, set, inside) => {
    set.add(node);
    for (const owner of owners(node)) inside.add(owner);
  };
  for (const [value, type, elements, nans, infinities, min, max, mean, deviation, bins] of facts.statistics || []) {
    Facts.statistics.set(value, {type, elements, nans, infinities, min, max, mean, deviation, bins});
    const node = producers.get(value);
    if (node && nans + infinities > 0) mark(node, Facts.bad, Facts.inside.bad);
  }
  for (const [value, isNear, error] of facts.deviations || []) {
    Facts.deviations.set(value, {isNear, error});
    const node = producers.get(value);
    if (node && !isNear) mark(node, Facts.different, Facts.inside.different);
  }
  for (const difference of facts.differences || [])
    for (const id of difference[4]) {
      Facts.differences.set(nodes[id], difference);
      for (const owner of owners(nodes[id])) Facts.inside.differences.add(owner);
    }
})(data.facts);
