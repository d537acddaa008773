// What the user does.

/// At most this many boxes are opened at once.
const maxOpened = 3000;

function show() {
  draw();
  if (view.selected) showNode(view.selected); else showOverview();
}

function select(node, {keepSource = false} = {}) {
  view.selected = node;
  show();
  if (!keepSource) showLocation(node ? node.l : -1);
}

/// Opens what contains a node, selects it and scrolls to it.
function reveal(node, options) {
  for (const owner of owners(node)) view.open.add(owner);
  select(node, options);
  scrollTo(node);
}

/// Opens or closes a box, which stays where it is on the screen.
function toggle(node) {
  if (node.v === undefined) return;
  const before = view.drawn.get(node).group.getBoundingClientRect();
  if (view.open.has(node)) view.open.delete(node); else view.open.add(node);
  draw();
  const {group} = view.drawn.get(node), after = group.getBoundingClientRect();
  canvas.scrollLeft += after.left + after.width / 2 - before.left - before.width / 2;
  canvas.scrollTop += after.top - before.top;
  group.focus({preventScroll: true});
}

function openAll() {
  const queue = [0];
  let opened = 0;
  for (let i = 0; i < queue.length; ++i) {
    const level = levels[queue[i]];
    if ((opened += level.n) > maxOpened) break;
    for (const node of nodes.slice(level.f, level.f + level.n))
      if (node.v !== undefined) { view.open.add(node); queue.push(node.v); }
  }
  draw();
}

function startPicture() {
  const nodeOf = (target) => {
    const group = target.closest('.node');
    return group && nodes[+group.dataset.id];
  };
  canvas.addEventListener('click', (event) => {
    const node = nodeOf(event.target);
    if (node && event.target.closest('.toggle')) return toggle(node);
    view.also.clear();
    select(node || null);
  });
  canvas.addEventListener('dblclick', (event) => {
    const node = nodeOf(event.target);
    if (node && !event.target.closest('.toggle')) toggle(node);
  });
  canvas.addEventListener('keydown', (event) => {
    const node = nodeOf(event.target);
    if (!node || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    if (node.v !== undefined) toggle(node);
    else { select(node); view.drawn.get(node).group.focus({preventScroll: true}); }
  });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomTo(view.zoom * Math.exp(-event.deltaY / 300));
  }, {passive: false});
}

/// The words by which a node is found.
function wordsOf(node) {
  const words = [node.t, node.path || ''];
  for (const value of [...(node.r || []), ...(node.p || [])]) words.push(nameOf(value), typeOf(value));
  return words.join('\n').toLowerCase();
}

function startSearch() {
  const input = document.getElementById('search'), found = document.getElementById('found');
  const close = () => { found.hidden = true; };
  const pick = (node) => { close(); view.also.clear(); reveal(node); };
  const nodesToFind = nodes.filter((node) => node.k !== Kind.part && (!node.owner || node.k === Kind.call || node.k === Kind.layer));
  input.addEventListener('input', () => {
    const text = input.value.trim().toLowerCase(), most = 50;
    if (!text) return close();
    const matches = nodesToFind.filter((node) => (node.words || (node.words = wordsOf(node))).includes(text));
    found.replaceChildren(...matches.slice(0, most).map((node) => {
      const name = node.k === Kind.call && node.r ? nameOf(node.r[0]) : [...owners(node)].reverse().map((one) => one.t).join('.');
      const button = element('button', '', node.t, ' ', element('small', '', name));
      button.setAttribute('role', 'option');
      button.addEventListener('click', () => pick(node));
      return button;
    }), element('small', '', matches.length > most ? `${matches.length} found; the first ${most} are shown` :
        `${matches.length} found`));
    found.hidden = false;
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !found.hidden && found.querySelector('button')) found.querySelector('button').click();
    if (event.key === 'Escape') close();
  });
  document.addEventListener('click', (event) => { if (!event.target.closest('.search')) close(); });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.closest('input, select')) return;
    event.preventDefault();
    input.focus();
  });
}

function startModes() {
  const all = [['time', 'time', 'times'], ['memory', 'live bytes', 'live'], ['values', 'nan and inf', 'statistics'],
    ['deviations', 'values that differ', 'deviations'], ['differences', 'differences', 'differences']];
  const known = all.filter(([, , fact]) => data.facts[fact]);
  if (!known.length) return;
  const mode = document.getElementById('mode');
  for (const [name, text] of [...known, ['none', 'kind of box']]) {
    const option = element('option', '', text);
    option.value = name;
    mode.append(option);
  }
  view.mode = known[0][0];
  mode.addEventListener('change', () => { view.mode = mode.value; draw(); });
  document.getElementById('modes').hidden = false;
}

function startButtons() {
  const on = (id, action) => document.getElementById(id).addEventListener('click', action);
  on('open-all', openAll);
  on('close-all', () => { view.open.clear(); draw(); });
  on('smaller', () => zoomTo(view.zoom / 1.25));
  on('larger', () => zoomTo(view.zoom * 1.25));
  on('theme', () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
  });
}

document.title = document.getElementById('title').textContent = visible(data.title);
document.getElementById('summary').textContent = visible(data.summary);
startModes();
startPicture();
startSearch();
startButtons();
startSource();
show();
// A picture that is a little too wide is made smaller; one that is much too wide is scrolled.
if (view.size.w > canvas.clientWidth) zoomTo(Math.max(0.75, canvas.clientWidth / view.size.w));
canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2;
document.documentElement.dataset.ready = Math.round(performance.now());
