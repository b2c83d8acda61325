// The page: the moving crowd, the measurement, and what it says about it.

const byId = (id) => document.getElementById(id);
const setState = (name) => { document.documentElement.dataset.state = name; };
const parameters = new URLSearchParams(location.search);
const TICKS_PER_SECOND = 60;
// Time for each backend at each point, and rounds in which backends take turns: an interval takes six.
const SECONDS = Number(parameters.get('seconds')) || 1.2;
// Curves of each kind of backend in a chart.
const CURVES = 4;
const [FEWEST_ROUNDS, MOST_ROUNDS] = [6, 60];

const MISSING = 'This browser offers no WebGPU. Chrome and Edge have it from version 113 on, Safari from 26, Firefox from 141 on Windows '
  + 'and 145 on macOS. On Linux, start Chrome or Chromium with --enable-unsafe-webgpu --enable-features=Vulkan.';
const NO_ADAPTER = 'This browser has WebGPU, but found no graphics adapter for it. Look for “hardware acceleration” in its settings, update '
  + 'the graphics driver, and see what chrome://gpu (or about:support) says about WebGPU. On Linux, start Chrome or Chromium with '
  + '--enable-unsafe-webgpu --enable-features=Vulkan.';

function say(text) {
  byId('status').textContent = text;
}

function advise(text) {
  byId('advice').textContent = text;
  byId('advice').hidden = false;
}

/** Resolves when the page can be seen: a hidden page is slowed down. */
function visible() {
  if (document.visibilityState === 'visible') return Promise.resolve();
  say('Paused: this tab is in the background.');
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
  });
}

/** Lets the browser show what has changed. */
const breath = () => new Promise((resolve) => { setTimeout(resolve, 0); });

/** Runs some work and returns the first error that the device reports meanwhile, or null. */
async function guarded(device, work) {
  const kinds = ['internal', 'out-of-memory', 'validation'];
  kinds.forEach((kind) => device.pushErrorScope(kind));
  let thrown = null;
  try {
    await work();
  } catch (error) {
    thrown = { status: 'error', error: String(error.message ?? error) };
  }
  let found = null;
  for (const kind of kinds.toReversed()) {
    const error = await device.popErrorScope();
    if (error) found = { status: kind === 'out-of-memory' ? 'too_large' : 'error', error: error.message.split('\n')[0] };
  }
  return found ?? thrown;
}

/** The crowd on the canvas, drawn by the recorded frames of one backend. */
class Picture {
  constructor(shared, source, canvas) {
    const { picture, camera, resolution } = source.recording;
    this.player = new Player(shared, picture, source);
    this.player.begin();
    this.context = canvas.getContext('2d');
    this.device = shared.device;
    this.size = resolution;
    // A row of a texture is copied to a multiple of 256 bytes.
    this.row = Math.ceil(resolution[0] * 4 / 256) * 256;
    this.pixels = this.device.createBuffer({ size: this.row * resolution[1], usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    this.drawing = Promise.resolve();
    this.camera = camera;
    const from = camera.eye.map((part, axis) => part - camera.target[axis]);
    this.distance = Math.hypot(...from);
    this.orbit = Math.atan2(from[0], from[2]);
    this.elevation = Math.asin(from[1] / this.distance);
    this.playing = false;
    this.seconds = 0;
    this.listen(canvas);
  }

  listen(canvas) {
    canvas.addEventListener('pointermove', (event) => {
      if (event.buttons === 0) return;
      this.turn(-event.movementX / 180, event.movementY / 260);
    });
    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] }[event.key];
      if (!by) return;
      event.preventDefault();
      this.turn(...by);
    });
  }

  turn(around, up) {
    this.orbit += around;
    this.elevation = Math.min(Math.max(this.elevation + up, 0.05), 1.5);
    if (!this.playing && !this.paused) this.draw();
  }

  /** World to clip space by columns, as the native program's camera has it. */
  matrix() {
    const { target, radius, fieldOfView } = this.camera;
    const near = Math.max(this.distance - radius, 0.01 * radius, 1e-3 * this.distance);
    const far = Math.max(this.distance + radius, 2 * near);
    const flat = Math.cos(this.elevation);
    const back = [flat * Math.sin(this.orbit), Math.sin(this.elevation), flat * Math.cos(this.orbit)];
    const right = [Math.cos(this.orbit), 0, -Math.sin(this.orbit)];
    const up = [back[1] * right[2], back[2] * right[0] - back[0] * right[2], -back[1] * right[0]];
    const eye = target.map((part, axis) => part + back[axis] * this.distance);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const scale = 1 / Math.tan(fieldOfView * Math.PI / 360);
    const [x, z] = [scale * this.size[1] / this.size[0], far / (near - far)];
    const column = (axis) => [x * right[axis], scale * up[axis], z * back[axis], -back[axis]];
    const depth = -dot(back, eye);
    return new Float32Array([...column(0), ...column(1), ...column(2), -x * dot(right, eye), -scale * dot(up, eye), z * depth + near * z, -depth]);
  }

  /** Draws a frame after the last one. */
  draw() {
    this.drawing = this.drawing.then(() => this.drawn());
    return this.drawing;
  }

  /** Draws a frame into a texture and copies it to the canvas, which works in every browser that has WebGPU. */
  async drawn() {
    const { player, device, size: [width, height], row, pixels } = this;
    const tick = Math.round(this.seconds * TICKS_PER_SECOND);
    device.queue.writeBuffer(player.object(player.labelled('view')), 0, this.matrix());
    device.queue.writeBuffer(player.object(player.labelled('now')), 0, new Uint32Array([tick, 0, 0, 0]));
    const encoder = device.createCommandEncoder();
    for (const [, commands] of player.stages(1)) commands.forEach((command) => player.encode(encoder, command));
    encoder.copyTextureToBuffer({ texture: player.object(player.labelled('color')) }, { buffer: pixels, bytesPerRow: row }, [width, height]);
    device.queue.submit([encoder.finish()]);
    await pixels.mapAsync(GPUMapMode.READ);
    const bytes = new Uint8ClampedArray(pixels.getMappedRange());
    const image = new ImageData(width, height);
    for (let y = 0; y < height; y++) image.data.set(bytes.subarray(y * row, y * row + width * 4), y * width * 4);
    pixels.unmap();
    this.context.putImageData(image, 0, 0);
  }

  start() {
    if (this.playing) return;
    this.playing = true;
    let last = null;
    const frame = async (now) => {
      if (!this.playing) return;
      this.seconds += last === null ? 0 : Math.min((now - last) / 1000, 0.1);
      last = now;
      await this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Stops after the frame that is being drawn. */
  stop() {
    this.playing = false;
    return this.drawing;
  }
}

/** Verifies and measures everything, and shows what it finds. */
class Measurement {
  constructor(shared, source, place, timestamps) {
    Object.assign(this, { shared, source, place, timestamps });
    this.device = shared.device;
    this.batches = new Batches(this.device);
    this.stopped = false;
    this.outcomes = [];
    const utc = new Date().toISOString().replace(/\.\d+/, '');
    this.run = { utc, id: `${utc.replace(/[-:]/g, '')}-${Math.random().toString(36).slice(2, 7)}` };
    const { crowds, passes } = source.recording;
    this.total = crowds.reduce((sum, crowd) => sum + 2 * crowd.backends.length, 0) + (passes.length - 1) * crowds.at(-1).backends.length;
    this.done = 0;
  }

  step(text, part = 1) {
    this.done += part;
    byId('progress').value = this.done / this.total;
    say(text);
  }

  async all() {
    const { crowds, passes } = this.source.recording;
    for (const crowd of crowds) {
      if (this.stopped) break;
      await this.crowd(crowd, crowd === crowds.at(-1) ? passes : passes.slice(0, 1));
    }
  }

  /** All backends on one crowd: verified, then timed by turns. */
  async crowd(crowd, passes) {
    const verified = [];
    for (const backend of crowd.backends) {
      if (this.stopped) break;
      this.step(`Verifying ${backend.name} on ${grouped(crowd.instances)} instances`);
      await visible();
      await breath();
      verified.push(await this.verified(crowd, backend));
    }
    this.shared.empty(CAPTURES);
    for (const number of passes) {
      const point = { crowd, passes: number };
      const outcomes = verified.map(({ outcome, player }) => ({ ...outcome, player, series: [] }));
      if (!this.stopped) await this.timed(point, outcomes);
      this.outcomes.push({ point, outcomes });
      show(this);
    }
    verified.forEach(({ player }) => player?.destroy());
    this.shared.empty(IN_TURN);
  }

  async verified(crowd, backend) {
    if (backend.status) return { outcome: { backend, status: backend.status, error: backend.error, parity: null }, player: null };
    const player = new Player(this.shared, backend, this.source);
    let parity = null;
    const failure = await guarded(this.device, async () => {
      player.begin();
      parity = await verify(player, crowd);
    });
    const refused = failure ?? (parity.failure && { status: 'parity_failed', error: parity.failure });
    const outcome = { backend, status: 'ok', error: null, ...refused, parity };
    if (!refused) return { outcome, player };
    player.destroy();
    return { outcome, player: null };
  }

  /** Times the backends that passed, one sample each in every round, so that a drift of the machine reaches all. */
  async timed({ crowd, passes }, outcomes) {
    const racing = outcomes.filter(({ player }) => player);
    const where = `${grouped(crowd.instances)} instances, ${passes === 1 ? '1 pass' : `${passes} passes`}`;
    for (const outcome of racing) {
      if (this.stopped) return;
      this.step(`Warming up ${outcome.backend.name}: ${where}`);
      await visible();
      await breath();
      outcome.series = series(outcome.player, passes, this.timestamps, this.batches);
      const failure = await guarded(this.device, async () => {
        for (const one of outcome.series) await one.calibrate();
      });
      if (failure) Object.assign(outcome, failure, { series: [], player: null });
    }
    const begin = performance.now();
    for (let round = 0; round < MOST_ROUNDS && !this.stopped; round++) {
      const share = (performance.now() - begin) / (1000 * SECONDS * racing.length);
      if (round >= FEWEST_ROUNDS && share > 1) break;
      say(`Timing ${where}: round ${round + 1}`);
      for (const outcome of racing.filter(({ player }) => player)) {
        await visible();
        let disturbed = false;
        const notice = () => { disturbed ||= document.visibilityState !== 'visible'; };
        document.addEventListener('visibilitychange', notice);
        const failure = await guarded(this.device, async () => {
          for (const one of outcome.series) await one.measure(round);
        });
        document.removeEventListener('visibilitychange', notice);
        if (disturbed) outcome.series.forEach((one) => one.forget(round));
        if (failure) Object.assign(outcome, failure, { series: [], player: null });
      }
      await breath();
    }
  }

  /** Rows of summary.csv and samples.csv so far. */
  files() {
    const all = this.outcomes.flatMap(({ point, outcomes }) => outcomes.map((outcome) => resultRows(this.source.recording, this.place, this.run, point, outcome)));
    return [
      ['summary.csv', csv(SUMMARY_COLUMNS, all.flatMap(({ rows }) => rows))],
      ['samples.csv', csv(SAMPLE_COLUMNS, all.flatMap(({ samples }) => samples))],
    ];
  }
}

/** Summary of a stage of an outcome, or null. */
function stageOf(outcome, stage) {
  const found = outcome.series.find((one) => one.stage === stage && one.samples.length > 0);
  return found ? summary(found.samples.map(([, ns]) => ns)) : null;
}

const POSE = ['cull', 'sample', 'blend', 'local_to_model', 'palette'];

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
  node.textContent = `${{ parity_failed: 'failed', skipped: 'not run', too_large: 'too large', error: 'error' }[status]}: ${error}`;
  return node;
}

function pointTable({ point: { crowd, passes }, outcomes }) {
  const head = ['backend', 'pose', 'upload', 'skin', 'draw', 'skin, ns/vertex', 'frame', 'error'];
  const rows = outcomes.map((outcome) => {
    const skin = stageOf(outcome, 'skin');
    const isOk = outcome.status === 'ok';
    const pose = isOk && outcome.backend.posedByHost ? 'in advance' : cell(sumOf(outcome, POSE));
    const skinCell = outcome.backend.skinsInDraw && isOk ? 'in draw' : interval(skin);
    const perVertex = skin ? (skin.median / crowd.vertices).toPrecision(3) : '–';
    const cells = [outcome.backend.name, pose, cell(sumOf(outcome, ['upload'])), skinCell, interval(stageOf(outcome, 'draw')), perVertex, interval(stageOf(outcome, 'frame')), parityCell(outcome)];
    return { cells: isOk ? cells : [outcome.backend.name, ...new Array(6).fill('–'), parityCell(outcome)], className: isOk ? '' : 'failing' };
  });
  return table(head, rows, `${grouped(crowd.instances)} instances, ${grouped(crowd.vertices)} vertices, ${passes === 1 ? '1 pass' : `${passes} passes`}`);
}

/** Outcomes with a time, the fastest first. */
const ranked = (outcomes, time) => outcomes.filter((o) => o.status === 'ok' && time(o) !== null).sort((a, b) => time(a) - time(b));

/** `a is fastest, 1 ms; b is as fast within the noise`, by one stage. */
function fastest(outcomes, stage) {
  const [first, second] = ranked(outcomes, (o) => stageOf(o, stage)?.median ?? null);
  if (!first) return null;
  const [one, two] = [first, second].map((o) => o && stageOf(o, stage));
  const overlap = two && (!one.interval || !two.interval || one.interval[1] >= two.interval[0]);
  const versus = !two ? '' : overlap ? `; ${second.backend.name} is as fast within the noise` : `, ${(two.median / one.median).toFixed(2)} times as fast as ${second.backend.name}`;
  return { name: first.backend.name, ns: one.median, text: `${first.backend.name} is fastest, ${duration(one.median)}${versus}` };
}

/** The answers: first whether all agree, then what is fastest. */
function answers(measurement) {
  const { recording } = measurement.source;
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
  const skin = fastest(outcomes, 'skin');
  if (skin) sentences.push(`Skinning ${crowd} once: ${skin.text}; ${(skin.ns / point.crowd.vertices).toPrecision(3)} ns per vertex.`);
  for (const { point: { passes }, outcomes: all } of largest) {
    const [first] = ranked(all, (o) => sumOf(o, ['skin', 'draw']));
    if (first) sentences.push(`Skin and draw, ${passes === 1 ? '1 pass' : `${passes} passes`}: ${first.backend.name}, ${duration(sumOf(first, ['skin', 'draw']))}.`);
  }
  const frame = fastest(outcomes, 'frame');
  if (frame) sentences.push(`A whole frame, posed on the device: ${frame.text}.`);
  if (measurement.place.isEmulated) sentences.push('This adapter is emulated on the CPU: the times say how kernels compare with each other, nothing about graphics hardware.');
  return sentences;
}

function chartsOf(measurement) {
  const { recording } = measurement.source;
  const largest = measurement.outcomes.filter(({ point }) => point.crowd === recording.crowds.at(-1));
  const list = [];
  if (largest.length > 0) {
    const { point, outcomes } = largest[0];
    const time = (o) => sumOf(o, ['skin', 'draw']);
    const stages = [...POSE, 'skin', 'draw'].filter((stage) => outcomes.some((o) => stageOf(o, stage)));
    const rows = ranked(outcomes, time).map((o) => ({
      name: o.backend.name,
      parts: stages.map((stage) => [stage, stageOf(o, stage)?.median]).filter(([, ns]) => ns !== undefined),
    }));
    if (rows.length > 0) {
      list.push(figure(
        `Work of the device for a frame: ${grouped(point.crowd.instances)} instances, ${point.passes === 1 ? '1 pass' : `${point.passes} passes`}`,
        'The fastest at skin and draw first. Backends without pose stages read palettes that were posed when this page was made.',
        bars(rows, stages), ['backend', ...stages],
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
    list.push(figure(title, caption, curves(found, options), ['backend', ...xs.map(grouped)],
      found.map(({ name, points }) => [name, ...xs.map((value) => { const own = points.find(([at]) => at === value); return own ? options.yFormat(own[1]) : '–'; })])));
  };
  const byCrowd = measurement.outcomes.filter(({ point }) => point.passes === recording.passes[0]);
  curve('Skinning against the size of the crowd', 'Time of the stage “skin”, once for all passes. The fastest four.',
    lines(byCrowd, (point) => point.crowd.instances, (_, o) => o && stageOf(o, 'skin')?.median),
    { xTitle: 'instances', yTitle: 'skin', log: true, yFormat: duration });
  curve('Skin and draw against passes', 'A vertex shader that skins does so in every pass; a compute kernel once for all. The fastest four of each kind.',
    lines(largest, (point) => point.passes, (_, o) => o && o.status === 'ok' && sumOf(o, ['skin', 'draw'])),
    { xTitle: 'passes', yTitle: 'skin and draw', log: false, yFormat: duration });
  return list;
}

/** Shows all that has been measured so far. */
function show(measurement) {
  byId('results').hidden = false;
  const [first, ...others] = answers(measurement);
  byId('verdict').textContent = first;
  byId('answers').replaceChildren(...others.map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  }));
  // The largest crowd first; the others fold away.
  const points = measurement.outcomes.toReversed();
  const headline = measurement.outcomes.find(({ point }) => point.crowd === points[0].point.crowd);
  const folded = measurement.outcomes.filter((one) => one !== headline).map((one) => {
    const details = document.createElement('details');
    const open = document.createElement('summary');
    open.textContent = `${grouped(one.point.crowd.instances)} instances, ${one.point.passes === 1 ? '1 pass' : `${one.point.passes} passes`}`;
    details.append(open, pointTable(one));
    return details;
  });
  byId('tables').replaceChildren(pointTable(headline), ...folded);
  byId('charts').replaceChildren(...chartsOf(measurement));
  byId('files').replaceChildren(...measurement.files().map(([name, text]) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.download = name;
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.textContent = name;
    item.append(link);
    return item;
  }));
  [[, byId('csv').textContent]] = measurement.files();
}

function list(id, facts) {
  byId(id).replaceChildren(...facts.map(([name, value]) => {
    const [row, term, text] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag));
    term.textContent = name;
    text.textContent = value;
    row.append(term, text);
    return row;
  }));
}

function describeMethod(recording, timestamps, batches) {
  const largest = recording.crowds.at(-1);
  const instances = largest.sampled.reduce((sum, group) => sum + group.length, 0);
  const paragraphs = [
    `Before a backend is timed, it runs frames of every crowd, and its vertices are compared with those that a 64-bit reference computed when this page was made: ${grouped(instances)} instances at the ticks ${largest.ticks.map(grouped).join(', ')} of the largest crowd, some at the first tick of the smaller ones. Outputs are filled with NaN first. A position may be off by 1e-5 of the diagonal of the model's box, a direction by 1e-3 radians; backends that approximate on purpose state their own limit. The page holds positions as 32-bit floats and directions as two 16-bit numbers, each finer than a tenth of its limit. A backend that fails is not timed.`,
    'gpu-vertex and gpu-compute read palettes that the CPU posed when this page was made: those of the compared instances, which the others repeat. Their frames lack posing and have no time of a whole frame here. gpu-full and gpu-baked pose on the device.',
    timestamps
      ? `Stages are timed by timestamps on the device. Their step here is ${duration(timestamps.step)}, so a stage is repeated until it lasts ${STEPS} steps. Whole frames and uploads are timed by the page's clock (step ${duration(batches.step)}), until the queue is empty; that includes the browser's own way to the device.`
      : `This browser has no timestamps on the device. Stages are timed in batches by the page's clock (step ${duration(batches.step)}), until the queue is empty: rows with the clock “wall”. A stage is repeated until it lasts ${STEPS} steps.`,
    'Backends take turns in every round. Figures are medians; ± is the 95 % interval of the median by order statistics. A tab in the background pauses, and what was disturbed is measured again. Nothing is sent anywhere: this page makes no request.',
  ];
  byId('method').replaceChildren(...paragraphs.map((text) => {
    const node = document.createElement('p');
    node.textContent = text;
    return node;
  }));
}

async function open() {
  if (!navigator.gpu) throw new Error(MISSING);
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error(NO_ADAPTER);
  const wanted = parameters.get('clock') === 'page' ? [] : ['timestamp-query'];
  const requiredFeatures = wanted.filter((feature) => adapter.features.has(feature));
  const device = await adapter.requestDevice({ requiredFeatures });
  return { adapter, device };
}

async function main() {
  const texts = [...document.querySelectorAll('pre.wgsl')].map((node) => node.textContent);
  const { adapter, device } = await open();
  const source = await unpacked(byId('recording').textContent, texts);
  const { recording } = source;
  const place = environment(navigator, adapter.info, adapter.isFallbackAdapter);
  const timestamps = await Timestamps.open(device);
  const shared = new Shared(device);
  list('machine', [
    ['adapter', place.adapter], ['browser', place.cpu.replace('browser: ', '')], ['system', place.os], ['interface', place.driver],
    ['clock', timestamps ? `timestamps, step ${duration(timestamps.step)}` : 'batches, by the page’s clock'],
    ['made by', `skinbench ${recording.version}${recording.gitRev ? `, commit ${recording.gitRev.slice(0, 10)}` : ''}${recording.dirty ? ', changed since' : ''}`],
  ]);
  describeMethod(recording, timestamps, new Batches(device));
  let picture = null;
  if (recording.picture) {
    // The picture's crowd stays on the device, apart from what is measured.
    const failure = await guarded(device, async () => { picture = new Picture(new Shared(device), source, byId('crowd')); await picture.draw(); });
    if (failure) picture = null;
    byId('caption').textContent = picture ? `${grouped(recording.crowds.at(-1).instances)} instances, posed and skinned on this GPU by ${recording.picture.name}. Drag to turn.` : `No picture: ${failure.error}`;
  }
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const play = byId('play');
  const move = (isMoving) => {
    if (isMoving) picture.start();
    else picture.stop();
    play.textContent = isMoving ? 'Pause' : 'Play';
  };
  play.hidden = !picture;
  play.onclick = () => move(!picture.playing);
  device.lost.then(({ message }) => {
    setState('failed');
    say(`The graphics device was lost: ${message || 'no reason given'}. Reload the page to try again.`);
  });
  const start = async () => {
    setState('running');
    // Nothing else may use the device.
    const wasMoving = picture?.playing;
    play.disabled = true;
    if (picture) picture.paused = true;
    await picture?.stop();
    byId('start').disabled = true;
    byId('stop').hidden = false;
    byId('running').hidden = false;
    const measurement = new Measurement(shared, source, place, timestamps);
    byId('stop').onclick = () => { measurement.stopped = true; };
    const begin = performance.now();
    await measurement.all();
    byId('stop').hidden = true;
    byId('running').hidden = true;
    byId('start').disabled = false;
    byId('start').textContent = 'Measure again';
    const bad = measurement.outcomes.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'parity_failed' || status === 'error');
    say(measurement.stopped ? 'Stopped.' : `Done in ${Math.round((performance.now() - begin) / 1000)} s.`);
    if (picture) {
      picture.paused = false;
      play.disabled = false;
      move(wasMoving);
    }
    setState(bad.length ? 'failed' : 'done');
  };
  byId('start').onclick = () => start().catch(fail);
  byId('start').disabled = false;
  say('Ready. It takes a minute or two; keep this tab in front.');
  setState('ready');
  if (picture) move(!still);
  if (parameters.has('auto')) await start();
}

function fail(error) {
  setState('failed');
  say('It cannot run here.');
  advise(String(error.message ?? error));
}

main().catch(fail);
