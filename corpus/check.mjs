#!/usr/bin/env node
// Judges an engine's answer by the corpus: check.mjs ANSWER.json [ASSETS]
//
// Prints a line for each asset: its verdict, the largest position error over the diagonal, the largest angle of a normal
// or tangent in radians, and where. Exit 1 if the engine is wrong somewhere. Needs node alone; `judge` needs nothing, so a
// page can import it. README.md describes the answer.

const length = (v) => Math.hypot(...v);
const number = (value) => (value === null ? NaN : Number(value));
const distance = (got, want) => length(want.map((w, c) => number(got[c]) - w));

/** The angle between directions of any length; nothing is wanted where there is no direction. */
function angle(got, want) {
  if (want === null) return 0;
  const size = length((got ?? []).map(number));
  if (!(size > 0)) return Math.PI;
  const unit = got.map((v) => v / size);
  return 2 * Math.atan2(length(unit.map((v, c) => v - want[c])), length(unit.map((v, c) => v + want[c])));
}

/** The largest error and its index; what is no number is larger than anything. */
function largest(errors) {
  let found = { error: 0, index: 0 };
  errors.forEach((error, index) => {
    if (!(error <= found.error)) found = { error: Number.isNaN(error) ? Infinity : error, index };
  });
  return found;
}

/** The error of the answer that is nearest, of those that count as right. */
function nearest(moment, name, got, measure) {
  const answers = [moment[name], ...(moment[`${name}_or`] ?? [])];
  const found = answers.map((want) => largest(want.map((w, vertex) => measure(got[vertex], w))));
  return found.reduce((a, b) => (b.error < a.error ? b : a));
}

/** A verdict, the errors, and the place of the largest position error. */
export function judge(expected, answered) {
  if (!answered) return { verdict: 'missing', note: 'not in the answer' };
  if (answered.refused) return { verdict: 'refused', note: answered.refused };
  const times = expected.moments.map((moment) => moment.time);
  const given = (answered.moments ?? []).map((moment) => moment.time);
  if (`${given}` !== `${times}`) return { verdict: 'missing', note: `other times than ${times}` };
  let position = 0;
  let direction = 0;
  let place = '';
  for (const [at, want] of expected.moments.entries()) {
    const got = answered.moments[at];
    for (const name of ['positions', 'normals', 'tangents']) {
      if (got[name] && got[name].length !== want.positions.length) {
        return { verdict: 'missing', note: `${got[name].length} ${name}; expected ${want.positions.length}` };
      }
    }
    const off = nearest(want, 'positions', got.positions, distance);
    if (off.error / expected.diagonal > position) {
      position = off.error / expected.diagonal;
      place = `time ${want.time}, vertex ${off.index}`;
    }
    for (const name of ['normals', 'tangents']) {
      if (want[name] && got[name]) direction = Math.max(direction, nearest(want, name, got[name], angle).error);
    }
  }
  const { tolerance } = expected;
  const right = position <= tolerance.position && direction <= tolerance.direction;
  const verdict = right ? 'right' : expected.optional ? 'differs' : 'wrong';
  return { verdict, position, direction, note: right ? '' : place };
}

async function main() {
  const fs = await import('node:fs');
  const path = await import('node:path');
  const [file, folder = path.join(import.meta.dirname, 'assets')] = process.argv.slice(2);
  if (!file) {
    console.error('usage: check.mjs ANSWER.json [ASSETS]');
    return 2;
  }
  const answer = JSON.parse(fs.readFileSync(file, 'utf8'));
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.expected.json')).sort();
  if (names.length === 0) {
    console.error(`${folder}: no *.expected.json`);
    return 2;
  }
  const counts = {};
  for (const name of names) {
    const expected = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    const { verdict, position, direction, note } = judge(expected, answer.assets[expected.asset]);
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    const errors = position === undefined ? '' : `${position.toExponential(1)}  ${direction.toExponential(1)}`;
    console.log(`${expected.asset.padEnd(24)} ${verdict.padEnd(14)} ${errors.padEnd(18)} ${note}`.trimEnd());
    if (verdict === 'wrong' || verdict === 'missing') console.log(`    ${expected.condition}\n    ${expected.clause}`);
  }
  const said = Object.keys(counts).sort().map((verdict) => `${counts[verdict]} ${verdict}`);
  console.log(`${answer.engine}: ${said.join(', ')}`);
  return counts.wrong || counts.missing ? 1 : 0;
}

if (typeof process !== 'undefined' && import.meta.filename === process.argv[1]) process.exitCode = await main();
