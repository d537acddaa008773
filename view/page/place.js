// Places the nodes of the levels that are open. Each level was placed with all its boxes closed; an open box stretches
// the columns and rows of the level that it spans.

const headHeight = 28, lineHeight = 15, inset = 14, listGap = 10, listWidth = 260;

/// The lines of a node below its title. In a list, which has no edges, also what it reads.
function linesOf(node) {
  if (levels[node.level].p !== undefined || !node.o || !node.o.length) return node.s;
  return [...node.s, '← ' + node.o.map(nameOf).join(', ')];
}

/// A monotone map of one axis in which each interval [begin, end] has at least its size. Elsewhere, distances stay.
function stretch(intervals) {
  const ends = new Map();
  for (const one of intervals) {
    if (!ends.has(one.begin)) ends.set(one.begin, []);
    if (!ends.has(one.end)) ends.set(one.end, []);
    ends.get(one.end).push(one);
  }
  const from = [...ends.keys()].sort((a, b) => a - b), to = [], index = new Map();
  from.forEach((at, i) => {
    let position = i ? to[i - 1] + at - from[i - 1] : at;
    for (const one of ends.get(at)) position = Math.max(position, to[index.get(one.begin)] + one.size);
    to.push(position);
    index.set(at, i);
  });
  return (at) => {
    if (!from.length || at <= from[0]) return at;
    let low = 0, high = from.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (from[middle] <= at) low = middle; else high = middle;
    }
    if (low === from.length - 1) return to[low] + at - from[low];
    return to[low] + (at - from[low]) * (to[low + 1] - to[low]) / (from[low + 1] - from[low]);
  };
}

/// The size of a node, and the placement of the level inside if it is open.
function sizeOf(node, open) {
  const head = headHeight + lineHeight * linesOf(node).length;
  const isPlaced = levels[node.level].p !== undefined;
  const size = {node, w: isPlaced ? node.w : Math.max(node.w, listWidth), h: head, head};
  if (node.v === undefined || !open.has(node)) return size;
  size.inner = placeLevel(node.v, open);
  size.w = Math.max(size.w, size.inner.w + 2 * inset);
  size.h = head + size.inner.h + inset;
  return size;
}

function placeAsList(sizes) {
  let y = 0, w = 0;
  for (const size of sizes) {
    size.x = 0;
    size.y = y;
    y += size.h + listGap;
    w = Math.max(w, size.w);
  }
  return {w, h: Math.max(0, y - listGap), boxes: sizes, curves: []};
}

/// The curve of an edge, from the lower side of one box to the upper side of another.
function curveOf(points, from, to, mapX, mapY) {
  const mapped = points.map((at, i) => (i % 2 ? mapY : mapX)(at));
  const shift = (i, x, y) => { mapped[i] += x; mapped[i + 1] += y; };
  const n = mapped.length;
  if (n < 8) return mapped;
  // The ends stay on their boxes, which do not fill their stretched columns and rows.
  const along = (size, at) => size.cx + Math.max(-0.5, Math.min(0.5, (at - size.x0) / size.node.w)) * size.w;
  const start = [along(from, points[0]) - mapped[0], from.y + from.h - mapped[1]];
  const end = [along(to, points[n - 2]) - mapped[n - 2], to.y - mapped[n - 1]];
  shift(0, ...start);
  shift(2, ...start);
  shift(n - 4, ...end);
  shift(n - 2, ...end);
  return mapped;
}

/// The positions of the boxes and curves of a level, and its size.
function placeLevel(index, open) {
  const level = levels[index];
  const sizes = nodes.slice(level.f, level.f + level.n).map((node) => sizeOf(node, open));
  if (level.p === undefined) return placeAsList(sizes);
  const placement = placements[level.p];
  const columns = [], rows = [];
  sizes.forEach((size, i) => {
    size.x0 = placement.c[2 * i];
    size.y0 = placement.c[2 * i + 1];
    const {w, h} = size.node;
    if (size.w > w) columns.push({begin: size.x0 - w / 2, end: size.x0 + w / 2, size: size.w});
    if (size.h > h) rows.push({begin: size.y0 - h / 2, end: size.y0 + h / 2, size: size.h});
  });
  const mapX = stretch(columns), mapY = stretch(rows);
  for (const size of sizes) {
    const {w, h} = size.node;
    size.cx = (mapX(size.x0 - w / 2) + mapX(size.x0 + w / 2)) / 2;
    size.x = size.cx - size.w / 2;
    size.y = (mapY(size.y0 - h / 2) + mapY(size.y0 + h / 2)) / 2 - size.h / 2;
  }
  const curves = level.e.map(([from, to], i) => curveOf(placement.e[i], sizes[from], sizes[to], mapX, mapY));
  return {w: mapX(placement.w), h: mapY(placement.h), boxes: sizes, curves};
}
