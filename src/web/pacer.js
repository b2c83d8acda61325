// Arithmetic between measurements: it keeps the device's clock up, and its time shows the clock. As the native program's.

// Least clock, relative to the best, at which times are compared, and the fraction of samples below it that makes a row unsteady.
const STEADY = 0.97;
const FEW = 0.1;
// Times that a measurement is repeated at most.
const AGAIN = 2;
// A piece lasts so many nanoseconds, and steps of the clock that times it; or it has the most rounds.
const SHORTEST_PIECE = 250e3;
const STEPS_OF_PIECE = 100;
const MOST_ROUNDS_OF_PIECE = 2 ** 24;
// A device has woken once pieces have not become shorter for so many nanoseconds; the longest time for that, and to wake again.
const SETTLED = 20e6;
const LONGEST_SETTLING = 1e9;
const LONGEST_WAKING = 100e6;

class Pacer {
  /**
   * `spin(rounds)` runs a piece and gives its nanoseconds, `submit(rounds)` only submits one. From `shortest` nanoseconds on, times
   * are exact.
   */
  constructor(spin, submit, shortest) {
    Object.assign(this, { spin, submit, shortest, rounds: 128, best: Infinity });
  }

  /** The pacer of a device; null for a software adapter, which has the processor's clock. */
  static on(bench, { wgsl, workgroups }) {
    if (isSoftware(bench.adapter.info)) return null;
    const clock = bench.timestamps ?? bench.batches;
    const arithmetic = new Arithmetic(bench.device, clock, wgsl, workgroups);
    return new Pacer((rounds) => arithmetic.spin(rounds), (rounds) => arithmetic.submit(rounds), Math.max(SHORTEST_PIECE, STEPS_OF_PIECE * clock.step));
  }

  async piece() {
    if (this.best === Infinity) await this.settle();
    const ns = await this.spin(this.rounds);
    this.best = Math.min(this.best, ns);
    return ns;
  }

  /** Finds the length of a piece on the device when it is awake. */
  async settle() {
    let [spent, since, least] = [0, 0, Infinity];
    while (since < SETTLED && spent < LONGEST_SETTLING) {
      const ns = await this.spin(this.rounds);
      spent += ns;
      if (ns < this.shortest && this.rounds < MOST_ROUNDS_OF_PIECE) {
        this.rounds *= 2;
        [since, least] = [0, Infinity];
        continue;
      }
      since = ns < 0.99 * least ? 0 : since + ns;
      least = Math.min(least, ns);
    }
    this.best = least;
  }

  /** Runs pieces until the clock is as before. */
  async wake() {
    for (let spent = 0; spent < LONGEST_WAKING;) {
      const ns = await this.piece();
      if (this.best >= STEADY * ns) return;
      spent += ns;
    }
  }

  /**
   * What `measure` gives between two pieces, and the time of the longer one; again while that shows that the clock had fallen, and
   * not for ever.
   */
  async around(measure) {
    for (let attempt = 0; ; attempt++) {
      const before = await this.piece();
      // The device does not wait for the page.
      this.submit(this.rounds);
      const result = await measure();
      const piece = Math.max(before, await this.piece());
      if (attempt === AGAIN || this.best >= STEADY * piece) return { result, piece };
      await this.wake();
    }
  }

  /** The clock of pieces relative to the best, in columns of summary.csv; nothing without a piece. */
  columns(pieces) {
    if (pieces.length === 0) return {};
    const clocks = ascending(pieces.map((piece) => this.best / piece));
    const percent = (clock) => Math.round(1000 * clock) / 10;
    const low = clocks.filter((clock) => clock < STEADY).length;
    return {
      device_clock_pct: percent(clocks[clocks.length >> 1]), device_clock_min_pct: percent(clocks[0]), unsteady: low > FEW * clocks.length,
    };
  }
}

/** The arithmetic of shaders/arithmetic.wgsl on a device. */
class Arithmetic {
  constructor(device, clock, wgsl, workgroups) {
    Object.assign(this, { device, clock, workgroups });
    const buffer = (usage) => device.createBuffer({ size: 16, usage });
    this.rounds = buffer(GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    const output = buffer(GPUBufferUsage.STORAGE);
    this.pipeline = device.createComputePipeline({ layout: 'auto', compute: { module: device.createShaderModule({ code: wgsl }), entryPoint: 'main' } });
    this.group = device.createBindGroup({
      layout: this.pipeline.getBindGroupLayout(0),
      entries: [this.rounds, output].map((own, binding) => ({ binding, resource: { buffer: own } })),
    });
  }

  record(encoder, timestampWrites) {
    const pass = encoder.beginComputePass({ timestampWrites });
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.group);
    pass.dispatchWorkgroups(this.workgroups);
    pass.end();
  }

  /** Sets the number of rounds. */
  set(rounds) {
    this.device.queue.writeBuffer(this.rounds, 0, new Uint32Array([rounds, 0xffffffff, 0, 0]));
  }

  submit(rounds) {
    this.set(rounds);
    const encoder = this.device.createCommandEncoder();
    this.record(encoder);
    this.device.queue.submit([encoder.finish()]);
  }

  /** Nanoseconds of a piece: by timestamps, or by the page's clock. */
  async spin(rounds) {
    this.set(rounds);
    return this.clock.timeOf((encoder, timestampWrites) => this.record(encoder, timestampWrites));
  }
}
