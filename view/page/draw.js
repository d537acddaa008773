// Draws the open levels.

const svgSpace = 'http://www.w3.org/2000/svg';
const picture = document.getElementById('picture'), canvas = document.getElementById('canvas');
const margin = 24, titleWidth = 8, lineWidth = 6.7;
const view = {open: new Set(), selected: null, also: new Set(), mode: 'none', zoom: 1, drawn: new Map()};

function svg(tag, attributes, parent, text) {
  const made = document.createElementNS(svgSpace, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

/// A text that fits into a width, with the width of one character.
function fit(text, width, character) {
  const characters = Array.from(visible(text)), most = Math.max(1, Math.floor(width / character));
  return characters.length <= most ? characters.join('') : characters.slice(0, most - 1).join('') + '…';
}

const titleOf = (node) => (node.k === Kind.update ? 'update ' : node.k === Kind.output ? '→ ' : '') + node.t;

/// What the chosen mode shows of a node: how hot it is, from 0 to 1, a short text, and classes.
function lookOf(node) {
  const marks = (set, inside, name) => set.has(node) ? [name] : inside.has(node) ? [name, 'inside'] : [];
  const look = {heat: 0, badge: '', classes: []};
  if (view.mode === 'time' && Facts.times.has(node)) {
    look.heat = Facts.times.get(node) / totalTime;
    look.badge = formatTime(Facts.times.get(node));
  } else if (view.mode === 'memory' && Facts.live.has(node)) {
    look.heat = Facts.live.get(node) / peakBytes;
    look.badge = formatBytes(Facts.live.get(node));
  } else if (view.mode === 'values') {
    look.classes = marks(Facts.bad, Facts.inside.bad, 'is-bad');
    if (Facts.bad.has(node)) look.badge = 'nan/inf';
  } else if (view.mode === 'deviations') {
    look.classes = marks(Facts.different, Facts.inside.different, 'is-bad');
  } else if (view.mode === 'differences') {
    const difference = Facts.differences.get(node);
    if (difference) look.classes = [difference[0] === 0 ? 'is-added' : 'is-changed'];
    else if (Facts.inside.differences.has(node)) look.classes = ['is-changed', 'inside'];
  }
  return look;
}
const totalTime = (data.facts.times || []).reduce((sum, one) => sum + one[1], 0) || 1;
const peakBytes = (data.facts.live || []).reduce((most, one) => Math.max(most, one[1]), 0) || 1;

function drawBadge(parent, text, x, y) {
  const width = text.length * 6.2 + 10;
  const badge = svg('g', {class: 'badge', transform: `translate(${x - width + 6},${y - 9})`}, parent);
  svg('rect', {width, height: 16, rx: 8}, badge);
  svg('text', {x: width / 2, y: 11.5}, badge, text);
}

function drawNode(size, parent, depth) {
  const {node, x, y, w, h} = size, look = lookOf(node);
  const classes = ['node', kindNames[node.k], ...look.classes];
  if (size.inner) classes.push('open');
  if (node === view.selected) classes.push('selected');
  if (view.also.has(node)) classes.push('also');
  const lines = linesOf(node);
  const group = svg('g', {
    class: classes.join(' '), transform: `translate(${x},${y})`, 'data-id': node.id, tabindex: 0, role: 'button',
    'aria-label': visible([titleOf(node), ...lines].join(', ')),
  }, parent);
  if (node.v !== undefined) group.setAttribute('aria-expanded', String(!!size.inner));
  view.drawn.set(node, {group, x: size.absoluteX, y: size.absoluteY, w, h});
  const radius = node.k === Kind.input || node.k === Kind.output ? 14 : 6;
  svg('rect', {class: 'box', width: w, height: h, rx: radius}, group);
  // The square root keeps small shares visible.
  if (look.heat > 0) svg('rect', {class: 'heat', width: w, height: size.head, rx: radius}, group).style.opacity =
      String(0.75 * Math.sqrt(look.heat));
  svg('title', {}, group, visible([titleOf(node), ...lines].join('\n')));
  const left = node.v === undefined ? 11 : 25;
  if (node.v !== undefined) {
    const toggle = svg('g', {class: 'toggle'}, group);
    svg('rect', {x: 2, y: 2, width: 23, height: 24, fill: 'transparent'}, toggle);
    svg('path', {d: size.inner ? 'M8 11l5 7 5-7z' : 'M10 9l7 5-7 5z'}, toggle);
  }
  svg('text', {class: 'title', x: left, y: 19}, group, fit(titleOf(node), w - left - 5, titleWidth));
  lines.forEach((line, i) => svg('text', {x: 11, y: 34 + lineHeight * i}, group, fit(line, w - 18, lineWidth)));
  if (size.inner) drawLevel(size.inner, node.v, svg('g', {
    transform: `translate(${(w - size.inner.w) / 2},${size.head})`}, group), depth + 1,
    size.absoluteX + (w - size.inner.w) / 2, size.absoluteY + size.head);
  if (look.badge) drawBadge(group, look.badge, w, 0);
}

/// The types on the edges of a level: below a box if all its edges have the same values, else on each.
function drawTypes(placed, level, parent) {
  const labels = new Map();
  level.e.forEach(([from, to, ...carried], i) => {
    if (nodes[level.f + from].k === Kind.input) return;  // its type is in its box
    if (!labels.has(from)) labels.set(from, new Map());
    const text = typeOf(carried[0]) + (carried.length > 1 ? ` +${carried.length - 1}` : '');
    labels.get(from).set(carried.join(), {text, i, names: carried.map((v) => nameOf(v) + ': ' + typeOf(v)).join('\n')});
  });
  for (const [from, distinct] of labels)
    [...distinct.values()].forEach(({text, i, names}, ordinal) => {
      const box = placed.boxes[from], curve = placed.curves[i];
      // The labels of several results are on two heights, so that neighbors do not overlap.
      const at = distinct.size === 1 ? [box.cx, box.y + box.h + 14] :
          [(curve[0] + 3 * curve[2] + 3 * curve[4] + curve[6]) / 8, box.y + box.h + 11 + 13 * (ordinal % 2)];
      const shown = fit(text, distinct.size === 1 ? box.node.w + 20 : 180, lineWidth), w = shown.length * lineWidth + 4;
      const label = svg('g', {class: 'type'}, parent);
      svg('rect', {x: at[0] - w / 2, y: at[1] - 10, width: w, height: 13}, label);
      svg('text', {x: at[0], y: at[1]}, label, shown);
      svg('title', {}, label, visible(names));
    });
}

function drawLevel(placed, index, parent, depth, absoluteX, absoluteY) {
  const level = levels[index];
  placed.curves.forEach((curve, i) => {
    const rest = [];
    for (let at = 2; at < curve.length; at += 6) rest.push('C' + curve.slice(at, at + 6).map((n) => n.toFixed(1)).join(' '));
    const [from, to] = level.e[i], selected = view.selected && view.selected.id - level.f;
    svg('path', {class: from === selected || to === selected ? 'edge near' : 'edge', 'marker-end': 'url(#arrow)',
      d: `M${curve[0].toFixed(1)} ${curve[1].toFixed(1)}${rest.join('')}`}, parent);
  });
  for (const size of placed.boxes) {
    size.absoluteX = absoluteX + size.x;
    size.absoluteY = absoluteY + size.y;
    drawNode(size, parent, depth);
  }
  if (placed.curves.length) drawTypes(placed, level, parent);
}

function draw() {
  const placed = placeLevel(0, view.open);
  view.drawn.clear();
  const defs = svg('defs', {});
  const arrow = svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7.5, refY: 4, markerWidth: 8, markerHeight: 8,
    orient: 'auto', markerUnits: 'userSpaceOnUse'}, defs);
  svg('path', {d: 'M0 0.5L8 4L0 7.5z'}, arrow);
  const root = svg('g', {transform: `translate(${margin},${margin})`});
  drawLevel(placed, 0, root, 0, margin, margin);
  picture.replaceChildren(defs, root);
  view.size = {w: placed.w + 2 * margin, h: placed.h + 2 * margin};
  picture.setAttribute('viewBox', `0 0 ${view.size.w} ${view.size.h}`);
  zoomTo(view.zoom);
}

function zoomTo(zoom) {
  view.zoom = Math.min(3, Math.max(0.1, zoom));
  picture.setAttribute('width', view.size.w * view.zoom);
  picture.setAttribute('height', view.size.h * view.zoom);
}

function scrollTo(node) {
  const at = view.drawn.get(node);
  if (!at) return;
  // The picture is centered if it is smaller than the canvas.
  const left = Math.max(0, (canvas.clientWidth - view.size.w * view.zoom) / 2);
  canvas.scrollTo({
    left: left + (at.x + at.w / 2) * view.zoom - canvas.clientWidth / 2,
    top: (at.y + Math.min(at.h / 2, 60)) * view.zoom - canvas.clientHeight / 2,
  });
}
