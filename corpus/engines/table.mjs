// Writes what engines make of the corpus: table.mjs ANSWER.json...
// Their columns of verdicts.csv, the table of docs/corpus.md and its pictures; columns of other engines stay.
import fs from 'node:fs';
import path from 'node:path';
import { judge } from '../check.mjs';
import { pictures } from './picture.mjs';

const here = (name) => path.join(import.meta.dirname, name);
const folder = here('../assets');
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.expected.json')).sort();
const corpus = names.map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));

/** A verdict, with the size of the error where there is one. */
function cell({ verdict, position, direction }, { tolerance }) {
  if (verdict !== 'wrong' && verdict !== 'differs') return verdict;
  const isPosition = position > tolerance.position;
  const error = isPosition ? position : direction;
  const size = Number.isFinite(error) ? error.toExponential(0).replace('+', '') : 'not finite';
  return `${verdict} ${size}${isPosition ? '' : ' rad'}`;
}

/** Engines of the file of verdicts, each with its cells by asset. */
function recorded() {
  const [head, ...rows] = fs.readFileSync(here('verdicts.csv'), 'utf8').trimEnd().split('\n').map((line) => line.split(','));
  return head.slice(1).map((title, column) => ({ title, cells: Object.fromEntries(rows.map((row) => [row[0], row[column + 1]])) }));
}

const engines = recorded();
for (const file of process.argv.slice(2)) {
  const { engine, version, assets } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const cells = Object.fromEntries(corpus.map((expected) => [expected.asset, cell(judge(expected, assets[expected.asset]), expected)]));
  const one = { title: `${engine} ${version}`, cells };
  const known = engines.findIndex(({ title }) => title.startsWith(`${engine} `));
  if (known < 0) engines.push(one);
  else engines[known] = one;
}

const rows = corpus.map(({ asset }) => [asset, ...engines.map(({ cells }) => cells[asset])]);
const csv = [['asset', ...engines.map(({ title }) => title)], ...rows];
fs.writeFileSync(here('verdicts.csv'), `${csv.map((row) => row.join(',')).join('\n')}\n`);

for (const [name, svg] of Object.entries(pictures(corpus, engines))) fs.writeFileSync(here(`../../docs/images/${name}`), svg);

// Three columns, as they fit a phone.
const table = ['| engine | right | wrong | other |', '| --- | ---: | ---: | ---: |'];
for (const { title, cells } of engines) {
  const [right, wrong] = ['right', 'wrong'].map((kind) => Object.values(cells).filter((cell) => cell.startsWith(kind)).length);
  table.push(`| ${title} | ${right} | ${wrong} | ${corpus.length - right - wrong} |`);
}
const page = here('../../docs/corpus.md');
const marked = /(<!-- engines -->\n)[^]*(<!-- \/engines -->)/;
const text = fs.readFileSync(page, 'utf8');
fs.writeFileSync(page, text.replace(marked, (_, start, end) => `${start}${table.join('\n')}\n${end}`));
