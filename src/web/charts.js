// Charts as SVG: bars of stages, and curves. Marks can be reached by keyboard and say what they are.

const SVG = 'http://www.w3.org/2000/svg';

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Nanoseconds with three digits and a unit. */
function duration(ns) {
  const [value, unit] = ns < 1e3 ? [ns, 'ns'] : ns < 1e6 ? [ns / 1e3, 'µs'] : ns < 1e9 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
  return `${unit === 'ns' && Number.isInteger(value) ? value : value.toPrecision(Math.max(3, Math.trunc(value).toString().length))} ${unit}`;
}

const grouped = (number) => number.toLocaleString('en');
const drawn = (passes) => (passes === 1 ? '1 pass' : `${passes} passes`);

/** Round steps that divide a range from 0 into at most six. */
function linearSteps(most) {
  const rough = most / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((candidate) => candidate >= rough);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/** One stop for each chart; arrows go from mark to mark. */
function walkable(chart) {
  const marks = [...chart.querySelectorAll('.mark')];
  marks.forEach((mark, index) => {
    mark.setAttribute('tabindex', index === 0 ? '0' : '-1');
    mark.addEventListener('keydown', (event) => {
      const to = { ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1, ArrowUp: index - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (!marks[to]) return;
      event.preventDefault();
      mark.setAttribute('tabindex', '-1');
      marks[to].setAttribute('tabindex', '0');
      marks[to].focus();
    });
  });
  return chart;
}

function mark(label, ...children) {
  return svg('g', { class: 'mark', role: 'img', 'aria-label': label }, svg('title', {}, label), ...children);
}

/** A figure with a heading, a chart and the chart's numbers as a table. `draw` draws the chart for a wide or a narrow screen. */
function figure(title, caption, draw, head, rows) {
  const node = document.createElement('figure');
  const heading = document.createElement('h2');
  heading.textContent = title;
  const text = document.createElement('figcaption');
  text.textContent = caption;
  const details = document.createElement('details');
  const open = document.createElement('summary');
  open.textContent = 'The same as a table';
  details.append(open, table(head, rows));
  node.append(heading, walkable(draw(false)), walkable(draw(true)), text, details);
  return node;
}

/** A table; cells are texts, or numbers that stand at the right. */
function table(head, rows, caption = null) {
  const node = document.createElement('table');
  if (caption) node.createCaption().textContent = caption;
  const first = node.createTHead().insertRow();
  for (const name of head) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = name;
    first.append(cell);
  }
  const body = node.createTBody();
  for (const { cells, className } of rows.map((row) => (Array.isArray(row) ? { cells: row } : row))) {
    const line = body.insertRow();
    if (className) line.className = className;
    cells.forEach((cell, index) => {
      const isName = index === 0;
      const own = document.createElement(isName ? 'th' : 'td');
      if (isName) own.scope = 'row';
      if (cell instanceof Node) own.append(cell);
      else own.textContent = cell;
      line.append(own);
    });
  }
  const scroll = document.createElement('div');
  scroll.className = 'scroll';
  scroll.append(node);
  return scroll;
}

/** Class of a chart for a wide or a narrow screen; the style sheet shows one of them. */
const chartClass = (narrow) => `chart ${narrow ? 'narrow' : 'wide'}`;

/** Horizontal bars, cut into stages: `rows` of `{ name, parts: [[stage, ns]] }`. Narrow charts have names above the bars. */
function bars(rows, stages, narrow) {
  const [left, width, line, bar] = narrow ? [8, 320, 42, 18] : [206, 720, 26, 18];
  // The legend, in as many lines as it needs.
  const legend = [];
  let [right, entries] = [left, 1];
  stages.forEach((stage, index) => {
    const own = 32 + 7.2 * stage.length;
    if (right + own > width + 20 && right > left) [right, entries] = [left, entries + 1];
    const y = 8 + 18 * (entries - 1);
    legend.push(svg('rect', { class: `s${index % 8}`, x: right, y, width: 12, height: 12 }), svg('text', { x: right + 17, y: y + 10 }, stage));
    right += own;
  });
  const top = 16 + 18 * entries;
  const total = ({ parts }) => parts.reduce((sum, [, ns]) => sum + ns, 0);
  const most = Math.max(...rows.map(total)) * 1.12;
  const x = (ns) => left + (width - left) * ns / most;
  const height = top + rows.length * line + 30;
  const chart = svg('svg', { class: chartClass(narrow), viewBox: `0 0 ${width + 20} ${height}`, role: 'group', 'aria-label': 'Bars' });
  chart.append(...legend);
  const steps = linearSteps(most);
  for (const step of narrow ? steps.filter((_, index) => index % 2 === 0) : steps) {
    chart.append(
      svg('line', { class: 'grid', x1: x(step), x2: x(step), y1: top - 4, y2: height - 24 }),
      svg('text', { x: x(step), y: height - 8, 'text-anchor': 'middle' }, step === 0 ? '0' : duration(step)),
    );
  }
  rows.forEach((row, index) => {
    const y = top + index * line + (line - bar - 8);
    chart.append(narrow ? svg('text', { x: left, y: y - 3 }, row.name) : svg('text', { x: left - 8, y: y + 15, 'text-anchor': 'end' }, row.name));
    let from = 0;
    for (const [stage, ns] of row.parts) {
      const rect = svg('rect', { class: `s${stages.indexOf(stage) % 8}`, x: x(from), y: y + 2, width: Math.max(x(from + ns) - x(from), 1), height: bar });
      chart.append(mark(`${row.name}: ${stage} ${duration(ns)}`, rect));
      from += ns;
    }
    const whole = duration(from);
    chart.append(narrow ? svg('text', { x: width, y: y - 3, 'text-anchor': 'end' }, whole) : svg('text', { x: x(from) + 6, y: y + 15 }, whole));
  });
  return chart;
}

/** Curves over two axes: `lines` of `{ name, points: [[x, y]] }`. Both axes are logarithmic if `log` is set. */
function curves(lines, { xTitle, yTitle, log, yFormat }, narrow) {
  // Names of lines stand in a column at the right, or in a legend above a narrow chart.
  const names = narrow ? 0 : 214;
  const [left, right, width] = narrow ? [66, 330, 340] : [66, 770, 780];
  const top = narrow ? 18 + 18 * lines.length : 18;
  const bottom = top + 302;
  const height = bottom + 46;
  const all = lines.flatMap(({ points }) => points);
  const range = (axis) => [Math.min(...all.map((p) => p[axis])), Math.max(...all.map((p) => p[axis]))];
  const [[x0, x1], [y0, y1]] = [range(0), range(1)];
  const scaled = (value) => (log ? Math.log10(value) : value);
  const low = log ? scaled(y0) - 0.12 : 0;
  const high = log ? scaled(y1) + 0.12 : y1 * 1.08;
  const x = (value) => left + 8 + (right - left - names - 16) * (scaled(value) - scaled(x0)) / (scaled(x1) - scaled(x0) || 1);
  const y = (value) => bottom - (bottom - top) * (scaled(value) - low) / (high - low || 1);
  const chart = svg('svg', { class: chartClass(narrow), viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': `${yTitle} against ${xTitle}` });
  const decades = Array.from({ length: 40 }, (_, index) => (index % 2 ? 3 : 1) * 10 ** (Math.floor(index / 2) - 6));
  const ySteps = log ? decades.filter((value) => scaled(value) >= low && scaled(value) <= high) : linearSteps(high);
  for (const step of ySteps) {
    chart.append(
      svg('line', { class: 'grid', x1: left, x2: right - names, y1: y(step), y2: y(step) }),
      svg('text', { x: left - 6, y: y(step) + 4, 'text-anchor': 'end' }, yFormat(step)),
    );
  }
  for (const value of new Set(all.map((point) => point[0]))) {
    chart.append(svg('text', { x: x(value), y: bottom + 20, 'text-anchor': 'middle' }, grouped(value)));
  }
  chart.append(
    svg('line', { class: 'axis', x1: left, x2: right - names, y1: bottom, y2: bottom }),
    svg('text', { x: (left + right - names) / 2, y: height - 6, 'text-anchor': 'middle' }, xTitle),
  );
  // Labels at the ends of lines, pushed apart where they would overlap.
  const ends = lines.map((line, index) => ({ line, index, at: y(line.points.at(-1)[1]) })).sort((a, b) => a.at - b.at);
  ends.forEach((end, index) => {
    if (index > 0) end.at = Math.max(end.at, ends[index - 1].at + 16);
  });
  const over = (ends.at(-1)?.at ?? 0) - bottom;
  if (over > 0) ends.forEach((end) => { end.at = Math.max(top + 4, end.at - over); });
  ends.forEach((end, index) => {
    if (index > 0) end.at = Math.max(end.at, ends[index - 1].at + 14);
  });
  for (const { line, index, at } of ends) {
    const tone = `b${index % 8}`;
    chart.append(svg('polyline', { class: `line ${tone}`, points: line.points.map(([a, b]) => `${x(a)},${y(b)}`).join(' ') }));
    for (const [a, b] of line.points) {
      chart.append(mark(`${line.name}, ${grouped(a)} ${xTitle}: ${yFormat(b)}`, svg('circle', { class: tone, cx: x(a), cy: y(b), r: 4.5 })));
    }
    if (narrow) {
      const y = 14 + 18 * index;
      chart.append(svg('circle', { class: tone, cx: 14, cy: y - 4, r: 4 }), svg('text', { x: 23, y }, line.name));
      continue;
    }
    const [endX, endY] = line.points.at(-1);
    chart.append(
      svg('line', { class: 'grid', x1: x(endX) + 7, x2: right - names + 8, y1: y(endY), y2: at }),
      svg('circle', { class: tone, cx: right - names + 14, cy: at, r: 4 }),
      svg('text', { x: right - names + 23, y: at + 4 }, line.name),
    );
  }
  return chart;
}
