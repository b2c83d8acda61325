// The run: all backends verified, then timed by turns. What goes wrong costs the row at hand, and nothing else.

// Time for each backend at each point, and rounds in which backends take turns: an interval takes six.
const SECONDS = Number(parameters.get('seconds')) || 1.2;
const [FEWEST_ROUNDS, MOST_ROUNDS] = [6, 30];
// Time of a run for each backend at each point, with verification, unless the reader has chosen one: 80 s for eight at five.
const AT_MOST = parameters.has('seconds') ? Infinity : 2;
const LATE = { status: 'skipped', error: 'no time was left' };
// Seconds in front of the reader after which work that has not ended is given up.
const PATIENCE = Number(parameters.get('patience')) || 20;

const MISSING = 'This browser offers no WebGPU. Chrome and Edge have it from version 113 on, Safari from 26, Firefox from 141 on Windows '
  + 'and 145 on macOS. On Linux, start Chrome or Chromium with --enable-unsafe-webgpu --enable-features=Vulkan.';
const INSECURE = 'Browsers have WebGPU only on pages that come from a disk or over https.';
const NO_ADAPTER = 'This browser has WebGPU, but found no graphics adapter for it. Look for “hardware acceleration” in its settings, update '
  + 'the graphics driver, and see what chrome://gpu (or about:support) says about WebGPU. On Linux, start Chrome or Chromium with '
  + '--enable-unsafe-webgpu --enable-features=Vulkan.';

const isVisible = () => document.visibilityState === 'visible';

/** Resolves when the page can be seen: a hidden page is slowed down. */
function visible() {
  if (isVisible()) return Promise.resolve();
  say('Paused: this tab is in the background.');
  return new Promise((resolve) => {
    const look = () => {
      if (!isVisible()) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
  });
}

/** Lets the browser show what has changed. */
const breath = () => new Promise((resolve) => { setTimeout(resolve, 0); });

/** A device, and what backends share on it. */
class Bench {
  static async open(arithmetic) {
    if (!navigator.gpu) throw new Error(isSecureContext ? MISSING : INSECURE);
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new Error(NO_ADAPTER);
    const wanted = parameters.get('clock') === 'page' ? [] : ['timestamp-query'];
    const device = await adapter.requestDevice({ requiredFeatures: wanted.filter((feature) => adapter.features.has(feature)) });
    const bench = new Bench(adapter, device);
    bench.timestamps = await Timestamps.open(device);
    // As `--device idle` of the native program.
    bench.pacer = parameters.get('device') === 'idle' ? null : Pacer.on(bench, arithmetic);
    return bench;
  }

  constructor(adapter, device) {
    Object.assign(this, { adapter, device, shared: new Shared(device), batches: new Batches(device), players: new Map(), lost: null });
    this.gone = device.lost.then(({ message }) => { this.lost ??= `the graphics device was lost: ${message || 'no reason given'}`; });
  }

  /** The player of a backend on this device. */
  player(backend, source) {
    if (!this.players.has(backend)) {
      const player = new Player(this.shared, backend, source);
      this.players.set(backend, player);
    }
    return this.players.get(backend);
  }

  /** Frees what one backend, or all of them, hold. */
  release(...backends) {
    for (const backend of backends.length > 0 ? backends : this.players.keys()) {
      this.players.get(backend)?.destroy();
      this.players.delete(backend);
    }
    if (backends.length === 0) this.shared.empty(IN_TURN);
  }

  /** Runs some work and returns what went wrong, or null. Work that does not end takes the device with it. */
  async guarded(work) {
    let timer;
    const overdue = new Promise((resolve) => {
      let left = PATIENCE;
      timer = setInterval(() => {
        left -= isVisible() ? 0.25 : 0;
        if (left > 0) return;
        this.lost ??= `no answer in ${PATIENCE} s`;
        resolve();
      }, 250);
    });
    const failure = await Promise.race([this.scoped(work), this.gone, overdue]);
    clearInterval(timer);
    // An error may arrive before the news that the device is gone, of which it comes.
    await breath();
    if (!this.lost) return failure ?? null;
    this.device.destroy();
    return { status: 'error', error: this.lost };
  }

  /** Runs some work and returns the first error that the device reports meanwhile. */
  async scoped(work) {
    const kinds = ['internal', 'out-of-memory', 'validation'];
    kinds.forEach((kind) => this.device.pushErrorScope(kind));
    let found = null;
    try {
      await work();
    } catch (error) {
      found = { status: 'error', error: String(error.message ?? error) };
    }
    for (const kind of kinds.toReversed()) {
      const error = await this.device.popErrorScope().catch(() => null);
      if (error) found = { status: kind === 'out-of-memory' ? 'too_large' : 'error', error: error.message.split('\n')[0] };
    }
    return found;
  }
}

/** Verifies and measures everything. `renewed` gives a bench that works; `show` is called with each point. */
class Measurement {
  constructor(source, machine, renewed, show) {
    Object.assign(this, { source, machine, renewed, show, stopped: false, outcomes: [], hidden: 0, done: 0 });
    const utc = new Date().toISOString().replace(/\.\d+/, '');
    this.run = { utc, id: `${utc.replace(/[-:]/g, '')}-${Math.random().toString(36).slice(2, 7)}` };
    const { crowds, passes } = source.recording;
    this.points = crowds.length + passes.length - 1;
    this.rows = crowds.reduce((sum, crowd) => sum + crowd.backends.length, 0) + (passes.length - 1) * crowds.at(-1).backends.length;
    this.total = this.rows + crowds.reduce((sum, crowd) => sum + crowd.backends.length, 0);
  }

  isLate() {
    return performance.now() > this.deadline;
  }

  step(text) {
    this.done += 1;
    byId('progress').value = this.done / this.total;
    say(text);
  }

  async all() {
    const { crowds, passes } = this.source.recording;
    const notice = () => { this.hidden += isVisible() ? 0 : 1; };
    document.addEventListener('visibilitychange', notice);
    await visible();
    this.refreshRate = await refreshRate();
    this.deadline = performance.now() + 1000 * AT_MOST * this.rows;
    for (const crowd of crowds) {
      if (!this.stopped) await this.crowd(crowd, crowd === crowds.at(-1) ? passes : passes.slice(0, 1));
    }
    document.removeEventListener('visibilitychange', notice);
  }

  /** Runs `work(bench, player)` for a backend. What goes wrong becomes its outcome; then others go on, on another device if need be. */
  async attempt(outcome, work) {
    await visible();
    this.bench = await this.renewed();
    const { bench } = this;
    const failure = await bench.guarded(() => work(bench, bench.player(outcome.backend, this.source)));
    if (!failure) return;
    Object.assign(outcome, failure, { series: [] });
    if (!bench.lost) bench.release(outcome.backend);
  }

  /** All backends on one crowd: verified, then timed by turns. */
  async crowd(crowd, passes) {
    const verified = crowd.backends.map((backend) => ({ backend, status: 'ok', error: null, parity: null, series: [], ...backend.refusal }));
    for (const outcome of verified.filter(({ backend }) => !backend.refusal)) {
      if (this.stopped) return;
      this.step(`Verifying ${outcome.backend.name} on ${grouped(crowd.instances)} instances`);
      if (this.isLate()) {
        Object.assign(outcome, LATE);
        continue;
      }
      await this.attempt(outcome, async (bench, player) => { outcome.parity = await verify(player, crowd); });
      if (!outcome.parity?.failure) continue;
      Object.assign(outcome, { status: 'parity_failed', error: outcome.parity.failure });
      this.bench.release(outcome.backend);
    }
    this.bench?.shared.empty(CAPTURES);
    for (const number of passes) {
      const point = { crowd, passes: number };
      const outcomes = verified.map((outcome) => ({ ...outcome }));
      if (!this.stopped) await this.timed(point, outcomes);
      this.outcomes.push({ point, outcomes });
      this.show(this);
    }
    this.bench?.release();
  }

  /** Times the backends that passed, one sample each in every round, so that a drift of the machine reaches all. */
  async timed({ crowd, passes }, outcomes) {
    const racing = () => outcomes.filter(({ status }) => status === 'ok');
    const share = (this.deadline - performance.now()) / this.points;
    this.points -= 1;
    const until = performance.now() + share;
    const where = `${grouped(crowd.instances)} instances, ${drawn(passes)}`;
    for (const outcome of racing()) {
      if (this.stopped) return;
      this.step(`Warming up ${outcome.backend.name}: ${where}`);
      if (this.isLate()) break;
      await this.attempt(outcome, async (bench, player) => {
        outcome.series = series(bench, player, passes, this.source.recording.stages);
        for (const one of outcome.series) await one.calibrate(bench, player);
      });
    }
    const begin = performance.now();
    for (let round = 0; round < MOST_ROUNDS && !this.stopped; round++) {
      const isMeasured = round >= FEWEST_ROUNDS && performance.now() - begin > 1000 * SECONDS * racing().length;
      if (isMeasured || (round > 0 && performance.now() > until)) break;
      say(`Timing ${where}: round ${round + 1}`);
      for (const outcome of racing()) {
        if (this.isLate()) break;
        await visible();
        const before = this.hidden;
        await this.attempt(outcome, async (bench, player) => {
          for (const one of outcome.series) await one.measure(bench, player, round);
        });
        if (this.hidden !== before) outcome.series.forEach((one) => one.forget(round));
      }
    }
    const isTimed = ({ series: own }) => own.some(({ samples }) => samples.length > 0);
    racing().filter((outcome) => this.isLate() && !isTimed(outcome)).forEach((outcome) => Object.assign(outcome, LATE, { series: [] }));
  }

  /** summary.csv and samples.csv of what was measured so far. */
  files() {
    const { recording } = this.source;
    const all = this.outcomes.flatMap(({ point, outcomes }) => outcomes.map((outcome) => resultRows(recording, this.machine, this.run, point, outcome)));
    return [
      ['summary.csv', csv(recording.columns.summary.split(','), all.flatMap(({ rows }) => rows))],
      ['samples.csv', csv(recording.columns.samples.split(','), all.flatMap(({ samples }) => samples))],
    ];
  }
}
