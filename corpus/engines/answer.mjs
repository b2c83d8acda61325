// What the engines here share: the files of the corpus, and the answer on standard output.
import fs from 'node:fs';
import path from 'node:path';

/**
 * Prints the answer of an engine. `show(bytes, expected, moment)` returns the vertices of a file at a moment: for each of the
 * expected parts `{ positions: [[x, y, z]...], normals: [[x, y, z]...] }`, without normals where the engine computes none. What
 * it throws is why the engine refuses the file.
 */
export async function answer(engine, version, show) {
  const folder = path.join(import.meta.dirname, '../assets');
  const assets = {};
  for (const name of fs.readdirSync(folder).filter((name) => name.endsWith('.expected.json'))) {
    const expected = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    const bytes = fs.readFileSync(path.join(folder, expected.file));
    assets[expected.asset] = await answered(bytes, expected, show);
  }
  process.stdout.write(JSON.stringify({ engine, version, assets }));
}

async function answered(bytes, expected, show) {
  const moments = [];
  for (const { time, animation } of expected.moments) {
    try {
      const parts = await show(bytes, expected, { time, animation });
      const told = { time };
      for (const name of ['positions', 'normals']) {
        if (parts.every((part) => part[name])) told[name] = parts.flatMap((part) => part[name]);
      }
      moments.push(told);
    } catch (error) {
      return { refused: `${error?.message ?? error}`.split('\n')[0] };
    }
  }
  return { moments };
}
