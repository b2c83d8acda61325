#!/usr/bin/env node
// Judges an engine's answer by the corpus. Needs node alone; `judge` needs nothing, so a page can import it.

const USAGE = `usage: check.mjs [--assets FOLDER] ANSWER.json [ASSET ...]

Prints a line for each asset, or for those that are named: its verdict, the largest position error over the diagonal, the
largest angle of a normal or tangent in radians, and where. Exit 1 if the engine is wrong somewhere, or if the answer lacks
an asset. README.md describes the answer.`;

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

/** The error of the answer that is nearest, of those that count as right, with the vertex and what it should be. */
function nearest(moment, name, got, measure) {
  const answers = [moment[name], ...(moment[`${name}_or`] ?? [])];
  const found = answers.map((answer) => {
    const { error, index } = largest(answer.map((want, vertex) => measure(got[vertex], want)));
    return { error, index, want: answer[index], got: got[index] };
  });
  return found.reduce((a, b) => (b.error < a.error ? b : a));
}

/** Three numbers as all checkers print them; `null` where there is no direction. */
const vector = (values) => (values ? `[${values.map((v) => (v === null ? 'null' : v.toFixed(6))).join(', ')}]` : 'null');
const times = (moments) => moments.map((moment) => moment.time.toFixed(3)).join(', ');
const place = ({ want, got }) => `expected ${vector(want)}, given ${vector(got)}`;

/** A verdict, the errors, and the place of the error that decides. Directions that are not given have no error. */
export function judge(expected, answered) {
  if (!answered) return { verdict: 'missing', note: 'not in the answer' };
  if (answered.refused) return { verdict: 'refused', note: answered.refused };
  const moments = answered.moments ?? [];
  if (times(moments) !== times(expected.moments)) {
    return { verdict: 'missing', note: `times ${times(moments)}; expected ${times(expected.moments)}` };
  }
  let position = 0;
  let direction;
  const places = {};
  for (const [at, want] of expected.moments.entries()) {
    const got = moments[at];
    for (const name of ['positions', 'normals', 'tangents']) {
      if (got[name] && got[name].length !== want.positions.length) {
        return { verdict: 'missing', note: `${got[name].length} ${name}; expected ${want.positions.length}` };
      }
    }
    const time = `time ${want.time.toFixed(3)}, vertex`;
    const off = nearest(want, 'positions', got.positions, distance);
    if (off.error / expected.diagonal > position) {
      position = off.error / expected.diagonal;
      places.position = `${time} ${off.index}: ${place(off)}`;
    }
    for (const name of ['normals', 'tangents']) {
      if (!want[name] || !got[name]) continue;
      const turned = nearest(want, name, got[name], angle);
      if (direction === undefined || turned.error > direction) {
        direction = turned.error;
        places.direction = `${time} ${turned.index}, ${name}: ${place(turned)}`;
      }
    }
  }
  const { tolerance } = expected;
  const isNear = position <= tolerance.position;
  const isRight = isNear && (direction === undefined || direction <= tolerance.direction);
  const note = isRight ? '' : isNear ? places.direction : places.position;
  return { verdict: isRight ? 'right' : expected.optional ? 'differs' : 'wrong', position, direction, note };
}

function readAnswer(fs, file) {
  let answer;
  try {
    answer = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error.message}`);
  }
  if (typeof answer?.engine !== 'string' || typeof answer.assets !== 'object' || !answer.assets) {
    throw new Error(`${file}: expected an object with "engine", a name, and "assets", an object`);
  }
  return answer;
}

/** The expected files of the assets that have these names; of all without any. */
function readExpected(fs, folder, assets, names) {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.expected.json')).sort();
  if (!files.length) throw new Error(`${folder}: no *.expected.json`);
  const all = files.map((name) => JSON.parse(fs.readFileSync(`${folder}/${name}`, 'utf8')));
  const known = new Set(all.map(({ asset }) => asset));
  const unknown = [...names, ...Object.keys(assets)].filter((name) => !known.has(name));
  if (unknown.length) throw new Error(`unknown asset ${unknown.join(', ')}; expected names of files in ${folder}`);
  return all.filter(({ asset }) => names.length === 0 || names.includes(asset));
}

async function main() {
  const fs = await import('node:fs');
  const { parseArgs } = await import('node:util');
  const options = { assets: { type: 'string', default: `${import.meta.dirname}/assets` }, help: { type: 'boolean', short: 'h' } };
  const { values, positionals: [file, ...names] } = parseArgs({ options, allowPositionals: true });
  if (values.help) return console.log(USAGE);
  if (!file) throw new Error('expected ANSWER.json; --help says more');
  const { engine, assets } = readAnswer(fs, file);
  const corpus = readExpected(fs, values.assets, assets, names);
  const shown = corpus.filter(({ asset }) => names.length || asset in assets);
  const counts = {};
  for (const expected of shown) {
    const { asset } = expected;
    let found = { verdict: 'missing', note: 'not of the form that README.md describes' };
    try {
      found = judge(expected, assets[asset]);
    } catch {} // As `found` says.
    const { verdict, position, direction, note } = found;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    const errors = [position, direction].map((error) => (error === undefined ? '-' : error.toExponential(1)).replace('Infinity', 'inf').padEnd(8));
    console.log(`${asset.padEnd(24)} ${verdict.padEnd(8)} ${errors.join(' ')} ${note}`.trimEnd());
    if (verdict === 'wrong' || verdict === 'missing') console.log(`    ${expected.condition}\n    ${expected.clause}`);
  }
  const lacking = corpus.length - shown.length;
  if (lacking) console.log(lacking === 1 ? '1 asset is not in the answer' : `${lacking} assets are not in the answer`);
  if (lacking) counts.missing = (counts.missing ?? 0) + lacking;
  const said = Object.keys(counts).sort().map((verdict) => `${counts[verdict]} ${verdict}`);
  console.log(`${engine}: ${said.join(', ')}`);
  return counts.wrong || counts.missing ? 1 : 0;
}

if (typeof process !== 'undefined' && import.meta.filename === process.argv[1]) {
  // Ends quietly when nobody reads on.
  process.stdout.on('error', () => process.exit(1));
  process.exitCode = await main().catch(({ message }) => {
    console.error(`error: ${message}`);
    return 2;
  });
}
