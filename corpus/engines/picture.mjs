// Draws what engines make of the corpus: a row for each asset, below its clause of the specification, a column for each engine.

const WIDTH = 360;
const NAMES = 136;
const MARGIN = 12;
const ROW = 15;
const HEAD = 72;
const COLOURS = { right: '#1b7f4b', wrong: '#b3261e', differs: '#8a5a00', refused: '#666', missing: '#666' };

/** What a cell shows that is not right: a mark, or the size of the error. */
function mark(cell) {
  const [verdict, size] = cell.split(' ');
  if (verdict === 'refused') return '–';
  if (verdict === 'missing') return '?';
  const number = Number(size);
  const short = number >= 10 ? size : `${number}`;
  return `${verdict === 'differs' ? '~' : ''}${size === 'not' ? '∞' : short}`;
}

/** Assets by the clause of the specification, in the order in which clauses first appear. */
function sections(corpus) {
  const found = new Map();
  for (const { asset, clause } of corpus) {
    const title = clause.split(/[/#]/).at(-1).replaceAll('-', ' ');
    found.set(title, [...(found.get(title) ?? []), asset]);
  }
  return [...found];
}

/** SVG files by their name: two halves, to stand side by side or one below the other. */
export function pictures(corpus, engines) {
  const halves = [[], []];
  let rows = 0;
  for (const section of sections(corpus)) {
    halves[rows < corpus.length / 2 ? 0 : 1].push(section);
    rows += section[1].length;
  }
  return Object.fromEntries(halves.map((half, index) => [`corpus-${index + 1}.svg`, picture(half, engines)]));
}

function picture(half, engines) {
  const step = (WIDTH - NAMES - MARGIN) / engines.length;
  const left = (column) => (NAMES + step * column).toFixed(1);
  const lines = [];
  engines.forEach(({ title }, column) => {
    const name = title.replace(/ \S+$/, '');
    lines.push(`<text transform="translate(${left(column + 0.5)} ${HEAD - 4}) rotate(-65)">${name}</text>`);
  });
  let y = HEAD;
  for (const [title, assets] of half) {
    y += ROW;
    lines.push(`<text x="4" y="${y - 3}" style="font-weight: bold">${title}</text>`);
    for (const asset of assets) {
      lines.push(`<text x="4" y="${y + 11}">${asset}</text>`);
      lines.push(`<rect x="${NAMES}" y="${y}" width="${step * engines.length}" height="14" fill="${COLOURS.right}"/>`);
      engines.forEach(({ cells }, column) => {
        const cell = cells[asset];
        if (cell === 'right') return;
        const colour = COLOURS[cell.split(' ')[0]];
        lines.push(`<rect x="${left(column)}" y="${y}" width="${step.toFixed(1)}" height="14" fill="${colour}"/>`);
        lines.push(`<text x="${left(column + 0.5)}" y="${y + 11}" class="mark">${mark(cell)}</text>`);
      });
      y += ROW;
    }
  }
  const height = y + 6;
  const gaps = engines.map((_, column) => `M${left(column)} ${HEAD}V${height}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">
<style>text { font: 11px sans-serif } .mark { font-size: 10px; fill: white; text-anchor: middle }</style>
<rect width="${WIDTH}" height="${height}" fill="white"/>
${lines.join('\n')}
<path d="${gaps.join('')}" stroke="white"/>
</svg>
`;
}
