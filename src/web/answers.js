// What the page says about the results: verdicts, tables and charts.

// Curves of each kind of backend in a chart.
const CURVES = 4;

/** Summary of a stage of an outcome, or null. */
function stageOf(outcome, stage) {
  const found = outcome.series.find((one) => one.stage === stage && one.samples.length > 0);
  return found ? summary(found.samples.map(([, ns]) => ns)) : null;
}

/** Summary of the first of some stages that was timed, or null. */
const firstOf = (outcome, stages) => stages.map((stage) => stageOf(outcome, stage)).find(Boolean) ?? null;

/** Median of stages together, or null where none was timed. */
function sumOf(outcome, stages) {
  const times = stages.map((stage) => stageOf(outcome, stage)).filter(Boolean);
  return times.length > 0 ? times.reduce((sum, { median: ns }) => sum + ns, 0) : null;
}

const cell = (ns) => (ns === null || ns === undefined ? '–' : duration(ns));

function interval(found) {
  if (!found) return '–';
  const wide = found.interval ? Math.max(found.interval[1] - found.median, found.median - found.interval[0]) / found.median : null;
  return wide === null ? duration(found.median) : `${duration(found.median)} ± ${(100 * wide).toFixed(wide < 0.01 ? 1 : 0)} %`;
}

function parityCell({ status, error, parity, backend }) {
  if (status === 'ok') return `${parity.position.toExponential(1)} of ${backend.tolerance.position.toExponential(0)}`;
  const node = document.createElement('span');
  node.className = 'failed';
  node.textContent = `${status.replace('_', ' ')}: ${error}`;
  return node;
}

function pointTable({ point: { crowd, passes }, outcomes }, stages) {
  const head = ['backend', 'pose', 'upload', 'skin', 'draw', 'skin, ns/vertex', 'frame', 'error'];
  const rows = outcomes.map((outcome) => {
    const skin = firstOf(outcome, stages.skin);
    const isOk = outcome.status === 'ok';
    const pose = isOk && outcome.backend.posedByHost ? 'in advance' : cell(sumOf(outcome, stages.pose));
    const skinCell = outcome.backend.skinsInDraw && isOk ? 'in draw' : interval(skin);
    const perVertex = skin ? (skin.median / crowd.vertices).toPrecision(3) : '–';
    const cells = [outcome.backend.name, pose, cell(sumOf(outcome, stages.upload)), skinCell, interval(firstOf(outcome, stages.draw)), perVertex, interval(firstOf(outcome, stages.frame)), parityCell(outcome)];
    return { cells: isOk ? cells : [outcome.backend.name, ...new Array(6).fill('–'), parityCell(outcome)], className: isOk ? '' : 'failing' };
  });
  return table(head, rows, `${grouped(crowd.instances)} instances, ${grouped(crowd.vertices)} vertices, ${drawn(passes)}`);
}

/** Outcomes with a time, the fastest first. */
const ranked = (outcomes, time) => outcomes.filter((o) => o.status === 'ok' && time(o) !== null).sort((a, b) => time(a) - time(b));

/** A sentence of the native program with names in braces replaced. */
const filledIn = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Whether the device's clock had fallen while some stages were timed. */
const isUnsteady = (outcome, stages) => outcome.series.some((one) => stages.includes(one.stage) && one.clockColumns().unsteady);

/** A ratio with at most two decimals and, below 1000, at most three digits. */
const factor = (ratio) => ratio.toFixed(ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);

/** The verdict on some stages, with `what` behind the time, and the time; null where none was timed. */
function fastest(words, outcomes, stages, what) {
  const time = (o) => (isUnsteady(o, stages) ? null : firstOf(o, stages));
  const [first, second] = ranked(outcomes, (o) => time(o)?.median ?? null);
  if (!first) return null;
  const [one, two] = [first, second].map((o) => o && time(o));
  const lead = !two ? 'only' : !one.interval || !two.interval ? 'unknown' : one.interval[1] >= two.interval[0] ? 'noise' : 'certain';
  const values = { first: first.backend.name, time: `${duration(one.median)} ${what}`, second: second?.backend.name, secondTime: two && duration(two.median), ratio: two && factor(two.median / one.median), ...(two?.interval && one.interval && { low: factor(two.interval[0] / one.interval[1]), high: factor(two.interval[1] / one.interval[0]) }) };
  return { ns: one.median, text: filledIn(words[lead], values) };
}

/** The answers: first whether all agree, then what is fastest. */
function answers(measurement) {
  const { recording } = measurement.source;
  const { stages, words } = recording;
  const largest = measurement.outcomes.filter(({ point }) => point.crowd === recording.crowds.at(-1));
  const headline = largest[0] ?? measurement.outcomes.at(-1);
  const { point, outcomes } = headline;
  const sentences = [];
  const failed = outcomes.filter(({ status }) => status === 'parity_failed' || status === 'error');
  const ok = outcomes.filter(({ status }) => status === 'ok');
  sentences.push(failed.length
    ? `${failed.map((o) => o.backend.name).join(', ')} failed and ${failed.length > 1 ? 'were' : 'was'} not timed.`
    : `All ${ok.length} backends agree with the 64-bit reference on this GPU.`);
  const crowd = `${grouped(point.crowd.instances)} instances (${grouped(point.crowd.vertices)} vertices)`;
  const skin = fastest(words, outcomes, stages.skin, `for skinning ${crowd} once`);
  if (skin) sentences.push(`${skin.text} That is ${(skin.ns / point.crowd.vertices).toPrecision(3)} ns per vertex.`);
  for (const { point: { passes }, outcomes: all } of largest) {
    const work = [...stages.skin, ...stages.draw];
    const [first] = ranked(all.filter((o) => !isUnsteady(o, work)), (o) => sumOf(o, work));
    if (first) sentences.push(`Skin and draw, ${drawn(passes)}: ${first.backend.name}, ${duration(sumOf(first, work))}.`);
  }
  const frame = fastest(words, outcomes, stages.frame, 'a frame, posed on the device');
  if (frame) sentences.push(frame.text);
  const unsteady = outcomes.filter((o) => isUnsteady(o, o.series.map(({ stage }) => stage)));
  if (unsteady.length) sentences.push(`The device’s clock fell while ${unsteady.map((o) => o.backend.name).join(', ')} ran: those times take no part in a verdict.`);
  const { adapter } = measurement.machine;
  if (adapter.endsWith(words.emulated)) sentences.push(filledIn(words.onEmulated, { adapter }));
  return sentences;
}

function chartsOf(measurement) {
  const { recording } = measurement.source;
  const work = [...recording.stages.skin, ...recording.stages.draw];
  const largest = measurement.outcomes.filter(({ point }) => point.crowd === recording.crowds.at(-1));
  const list = [];
  if (largest.length > 0) {
    const { point, outcomes } = largest[0];
    const time = (o) => sumOf(o, work);
    const stages = [...recording.stages.pose, ...work].filter((stage) => outcomes.some((o) => stageOf(o, stage)));
    const rows = ranked(outcomes, time).map((o) => ({
      name: o.backend.name,
      parts: stages.map((stage) => [stage, stageOf(o, stage)?.median]).filter(([, ns]) => ns !== undefined),
    }));
    if (rows.length > 0) {
      list.push(figure(
        `Work of the device for a frame: ${grouped(point.crowd.instances)} instances, ${drawn(point.passes)}`,
        'The fastest at skin and draw first. Backends without pose stages read palettes that were posed when this page was made.',
        (narrow) => bars(rows, stages, narrow), ['backend', ...stages],
        rows.map(({ name, parts }) => [name, ...stages.map((stage) => cell(parts.find(([own]) => own === stage)?.[1]))]),
      ));
    }
  }
  // Of the backends that skin in the draw and of the others, the four that are fastest at the end.
  const lines = (outcomesOf, x, y) => {
    const backends = outcomesOf.at(-1)?.outcomes.map((o) => o.backend) ?? [];
    const all = backends.map(({ name, skinsInDraw }) => ({
      name,
      skinsInDraw,
      points: outcomesOf.map(({ point, outcomes }) => [x(point), y(point, outcomes.find((o) => o.backend.name === name))]).filter(([, value]) => value),
    })).filter(({ points }) => points.length > 1).sort((a, b) => a.points.at(-1)[1] - b.points.at(-1)[1]);
    const shown = [true, false].flatMap((inDraw) => all.filter(({ skinsInDraw }) => skinsInDraw === inDraw).slice(0, CURVES));
    return all.filter((line) => shown.includes(line));
  };
  const curve = (title, caption, found, options) => {
    if (found.length === 0) return;
    const xs = [...new Set(found.flatMap(({ points }) => points.map(([value]) => value)))];
    list.push(figure(title, caption, (narrow) => curves(found, options, narrow), ['backend', ...xs.map(grouped)],
      found.map(({ name, points }) => [name, ...xs.map((value) => { const own = points.find(([at]) => at === value); return own ? options.yFormat(own[1]) : '–'; })])));
  };
  const byCrowd = measurement.outcomes.filter(({ point }) => point.passes === recording.passes[0]);
  curve('Skinning against the size of the crowd', 'Time of the stage “skin”, once for all passes. The fastest four.',
    lines(byCrowd, (point) => point.crowd.instances, (_, o) => o && firstOf(o, recording.stages.skin)?.median),
    { xTitle: 'instances', yTitle: 'skin', log: true, yFormat: duration });
  curve('Skin and draw against passes', 'A vertex shader that skins does so in every pass; a compute kernel once for all. The fastest four of each kind.',
    lines(largest, (point) => point.passes, (_, o) => o && o.status === 'ok' && sumOf(o, work)),
    { xTitle: 'passes', yTitle: 'skin and draw', log: false, yFormat: duration });
  return list;
}
