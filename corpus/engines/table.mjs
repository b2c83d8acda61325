// Writes the table of engines into a page: table.mjs PAGE ANSWER.json...
// Rows are the assets that some engine does not show as the specification asks; the last row counts those that it does.
import fs from 'node:fs';
import path from 'node:path';
import { judge } from '../check.mjs';

const [page, ...files] = process.argv.slice(2);
const answers = files.map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
const folder = path.join(import.meta.dirname, '../assets');
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.expected.json')).sort();
const corpus = names.map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));

/** A verdict, with the size of the error where there is one. */
function cell({ verdict, position, direction }, expected) {
  if (verdict !== 'wrong' && verdict !== 'differs') return verdict;
  const isPosition = position > expected.tolerance.position;
  const error = isPosition ? position : direction;
  const size = Number.isFinite(error) ? error.toExponential(0) : 'not finite';
  return `${verdict}: ${size}${isPosition ? '' : ' rad'}`;
}

const lines = [
  `| asset | ${answers.map(({ engine, version }) => `${engine} ${version}`).join(' | ')} |`,
  `| --- |${' --- |'.repeat(answers.length)}`,
];
const right = answers.map(() => 0);
for (const expected of corpus) {
  const judged = answers.map((answer) => judge(expected, answer.assets[expected.asset]));
  judged.forEach(({ verdict }, engine) => (right[engine] += verdict === 'right'));
  if (judged.every(({ verdict }) => verdict === 'right')) continue;
  const cells = judged.map((one) => cell(one, expected));
  lines.push(`| [${expected.asset}](../corpus/assets/${expected.file}) | ${cells.join(' | ')} |`);
}
lines.push(`| **right, of ${corpus.length}** | ${right.join(' | ')} |`);
const marked = /(<!-- engines -->\n)[^]*(<!-- \/engines -->)/;
const text = fs.readFileSync(page, 'utf8');
fs.writeFileSync(page, text.replace(marked, (_, start, end) => `${start}${lines.join('\n')}\n${end}`));
