// What is known of the selected node; if none is selected, of the network.

const details = document.getElementById('details');

function link(text, action) {
  const made = element('button', 'link', text);
  made.addEventListener('click', action);
  return made;
}

function linkTo(node, text) {
  return link(text || titleOf(node), () => reveal(node));
}

function table(rows) {
  const made = element('table');
  for (const row of rows) {
    const line = element('tr');
    for (const cell of row) line.append(element('td', '', cell));
    made.append(line);
  }
  return made;
}

function heading(text) { details.append(element('h3', '', text)); }

function valueLink(value) {
  const node = producers.get(value);
  const [name, , kind, , detail] = values[value];
  if (kind === 0 && detail !== undefined) return element('span', 'mono', detail);
  return node ? linkTo(node, name) : element('span', '', name);
}

/// Rows of name, type and size.
const valueRows = (list) => list.map((value) => [
  valueLink(value), element('span', 'mono', typeOf(value)), values[value][2] > 1 ? values[value][4] : '']);

function histogram(bins) {
  const bars = svg('svg', {class: 'bars', viewBox: `0 0 ${bins.length} 46`, preserveAspectRatio: 'none'});
  const most = Math.max(...bins, 1);
  bins.forEach((count, i) => {
    const height = count ? Math.max(1, 46 * count / most) : 0;
    svg('title', {}, svg('rect', {x: i + 0.05, y: 46 - height, width: 0.9, height}, bars), String(count));
  });
  return bars;
}

const number = (value) => typeof value === 'number' ? String(+value.toPrecision(6)) : value;

function showStatistics(value) {
  const known = Facts.statistics.get(value);
  if (!known) return;
  heading(`${nameOf(value)} in this run: ${known.type}`);
  if (known.nans + known.infinities > 0) details.append(element('div', 'bad',
      `${known.nans} nan, ${known.infinities} infinite of ${known.elements} elements`));
  if (known.elements === known.nans + known.infinities) return;
  details.append(element('small', '', `min ${number(known.min)}   max ${number(known.max)}   mean ${
      number(known.mean)}   standard deviation ${number(known.deviation)}`), histogram(known.bins));
}

function showDifference(difference) {
  const [kind, subject, text, changes] = difference;
  const names = ['added', 'removed', 'changed'];
  details.append(element('div', names[kind], element('code', '', `${'+-~'[kind]} ${subject} ${text}`)));
  for (const change of changes) details.append(element('div', 'mono', '    ' + change));
}

function showPlaces(node) {
  const path = [...locationsOf(node.l)].filter(([file]) => files[file]).reverse();
  if (!path.length) return;
  heading('Source');
  path.forEach(([file, line], i) => {
    if (i) details.append(' › ');
    details.append(link(`${files[file].name}:${line}`, () => {
      const at = locations.findIndex((one) => one[0] === file && one[1] === line);
      showLocation(at);
    }));
  });
}

function showNode(node) {
  const results = node.r || [], operands = node.o || [], variables = node.p || [];
  details.replaceChildren(element('h2', '', `${node.t}`, ' ', element('small', '', kindNames[node.k])));
  const path = [...owners(node)].reverse();
  if (path.length) {
    const trail = element('div');
    path.forEach((owner, i) => trail.append(i ? ' › ' : '', linkTo(owner)));
    details.append(trail);
  }
  if (node.path) details.append(element('div', '', element('small', '', 'layer ' + node.path)));
  if (node.a) details.append(element('code', '', node.a));
  if (Facts.times.has(node)) details.append(element('div', '', `Time: ${formatTime(Facts.times.get(node))}, ${
      (100 * Facts.times.get(node) / totalTime).toPrecision(3)} %`));
  for (const [id, , calls] of data.facts.times || [])
    if (id === node.id && calls !== node.t) details.append(element('small', '', `measured with: ${calls}`));
  if (Facts.live.has(node)) details.append(element('div', '', `Live: ${formatBytes(Facts.live.get(node))}`));
  if (Facts.differences.has(node)) showDifference(Facts.differences.get(node));
  if (results.length) { heading('Results'); details.append(table(valueRows(results))); }
  for (const value of results) {
    const deviation = Facts.deviations.get(value);
    if (deviation) details.append(element('div', deviation.isNear ? '' : 'bad',
        `${nameOf(value)}: differs by at most ${number(deviation.error)}`));
    showStatistics(value);
  }
  const read = operands.filter((value) => values[value][2] < 2);
  if (read.length) { heading('Reads'); details.append(table(valueRows(read))); }
  if (variables.length) { heading('Parameters and states'); details.append(table(valueRows(variables))); }
  const users = [...new Set(results.flatMap((value) => readers.get(value) || []))];
  if (users.length && node.v === undefined) {
    heading('Read by');
    users.slice(0, 30).forEach((user, i) => details.append(i ? ', ' : '', linkTo(user)));
  }
  showPlaces(node);
}

/// Links to the first nodes of a list, with a text for each.
function showList(title, list, textOf) {
  heading(title);
  details.append(table(list.slice(0, 20).map((node) => [linkTo(node), textOf(node)])));
  if (list.length > 20) details.append(element('small', '', `and ${list.length - 20} more`));
}

function showOverview() {
  details.replaceChildren(element('h2', '', data.title), element('div', '', data.summary));
  const facts = data.facts;
  if (facts.times) {
    const slow = facts.times.filter(([id]) => id >= 0).sort((a, b) => b[1] - a[1]);
    const seconds = new Map(slow.map(([id, time]) => [nodes[id], time]));
    showList(`Time of a run: ${formatTime(totalTime)}`, slow.map(([id]) => nodes[id]), (node) => formatTime(seconds.get(node)));
    const other = facts.times.filter(([id]) => id < 0).reduce((sum, one) => sum + one[1], 0);
    if (other) details.append(element('small', '', `${formatTime(other)} in steps that compute no value of the network`));
  }
  if (facts.live) showList(`Live bytes: ${facts.live.length ? formatBytes(peakBytes) : '0 B'} at most`,
      facts.live.filter((one) => one[1] === peakBytes).map((one) => nodes[one[0]]), () => formatBytes(peakBytes));
  if (facts.statistics) showList(`Values with nan or infinite elements: ${Facts.bad.size}`, [...Facts.bad], () => '');
  if (facts.deviations) showList(`Values that differ from ${facts.before}: ${Facts.different.size}`, [...Facts.different], () => '');
  if (facts.differences) {
    heading(facts.differences.length ? `Differences from ${facts.before}` : `No differences from ${facts.before}`);
    facts.differences.slice(0, 200).forEach(showDifference);
  }
  if (levels[0].p === undefined && levels[0].n) details.append(element('p', '', element('small', '',
      'Graphviz did not place the boxes, so they are lists.')));
  details.append(element('p', '', element('small', '',
      'Click a box for what it reads and computes, its triangle or Enter to open it, a line of the source for its calls.')));
}
