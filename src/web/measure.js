// Times of stages: by timestamps on the device where the browser has them, else by batches that the page waits for.

// A measured time lasts at least this many steps of the clock.
const STEPS = 50;
// Most repetitions, and longest time of a repeated stage in nanoseconds.
const MOST_TURNS = 4096;
const LONGEST = 250e6;

const gcd = (a, b) => (b === 0n ? a : gcd(b, a % b));

/** Timestamps of a device, or null where it has none. */
class Timestamps {
  static async open(device) {
    if (!device.features.has('timestamp-query')) return null;
    const clock = new Timestamps(device);
    clock.step = await clock.measureStep();
    return clock.step > 0 ? clock : null;
  }

  constructor(device) {
    this.device = device;
    this.set = device.createQuerySet({ type: 'timestamp', count: 2 });
    this.resolved = device.createBuffer({ size: 16, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
    this.mappable = device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  }

  /** The timestamps around what `record` records. */
  async around(record) {
    const encoder = this.device.createCommandEncoder();
    record(encoder, this.set);
    encoder.resolveQuerySet(this.set, 0, 2, this.resolved, 0);
    encoder.copyBufferToBuffer(this.resolved, 0, this.mappable, 0, 16);
    this.device.queue.submit([encoder.finish()]);
    await this.mappable.mapAsync(GPUMapMode.READ);
    const [begin, end] = new BigUint64Array(this.mappable.getMappedRange().slice(0));
    this.mappable.unmap();
    return [begin, end];
  }

  /** Step of the clock in nanoseconds: the largest number that divides all differences of timestamps. */
  async measureStep() {
    const times = [];
    for (let turn = 0; turn < 24; turn++) {
      times.push(...await this.around((encoder, querySet) => {
        const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
        encoder.beginComputePass({ timestampWrites }).end();
      }));
    }
    return Number(times.reduce((step, time) => gcd(step, time > times[0] ? time - times[0] : times[0] - time), 0n));
  }

  /** Nanoseconds of one pass; at least a step of the clock. */
  async timeOf(record) {
    const [begin, end] = await this.around((encoder, querySet) => record(encoder, { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 }));
    return Math.max(Number(end - begin), this.step);
  }

  /** Nanoseconds of a stage, `turns` times over; null for a difference that is not positive. */
  async time(player, commands, turns) {
    const [begin, end] = await this.around((encoder, querySet) => {
      // Dispatches repeat within their pass; passes that draw repeat as a whole.
      const isCompute = commands[0].do === 'compute';
      const list = isCompute ? commands : Array.from({ length: turns }, () => commands).flat();
      list.forEach((command, index) => {
        const writes = {
          querySet,
          beginningOfPassWriteIndex: index === 0 ? 0 : undefined,
          endOfPassWriteIndex: index === list.length - 1 ? 1 : undefined,
        };
        const isMarked = index === 0 || index === list.length - 1;
        player.encode(encoder, command, isCompute ? turns : 1, isMarked ? writes : undefined);
      });
    });
    return end > begin ? Number(end - begin) : null;
  }
}

/** Time of a batch by the page's clock: until the queue has finished it. */
class Batches {
  constructor(device) {
    this.device = device;
    this.step = Batches.measureStep();
  }

  /** Step of the page's clock in nanoseconds. */
  static measureStep() {
    let least = Infinity;
    for (let turn = 0; turn < 20; turn++) {
      const from = performance.now();
      let now = from;
      while (now === from) now = performance.now();
      least = Math.min(least, now - from);
    }
    return least * 1e6;
  }

  async waited(work) {
    await this.device.queue.onSubmittedWorkDone();
    const from = performance.now();
    work();
    await this.device.queue.onSubmittedWorkDone();
    return (performance.now() - from) * 1e6;
  }

  async time(player, commands, turns) {
    const ns = await this.waited(() => {
      const encoder = this.device.createCommandEncoder();
      for (let turn = 0; turn < turns; turn++) commands.forEach((command) => player.encode(encoder, command));
      this.device.queue.submit([encoder.finish()]);
    });
    return ns > 0 ? ns : null;
  }

  /** Nanoseconds of one pass; at least a step of the clock. */
  async timeOf(record) {
    const ns = await this.waited(() => {
      const encoder = this.device.createCommandEncoder();
      record(encoder);
      this.device.queue.submit([encoder.finish()]);
    });
    return Math.max(ns, this.step);
  }

  /** Sending a tick's data, `turns` times over. */
  async timeUpload(player, commands, turns) {
    const ns = await this.waited(() => {
      for (let turn = 0; turn < turns; turn++) {
        player.upload(turn % player.backend.uploads.length);
        const encoder = this.device.createCommandEncoder();
        commands.forEach((command) => player.encode(encoder, command));
        this.device.queue.submit([encoder.finish()]);
      }
    });
    return ns > 0 ? ns : null;
  }

  /** Whole frames, one in flight, `turns` one after the other. */
  async timeFrames(player, stages, turns) {
    await this.device.queue.onSubmittedWorkDone();
    const from = performance.now();
    for (let turn = 0; turn < turns; turn++) {
      player.upload(turn % player.backend.uploads.length);
      const encoder = this.device.createCommandEncoder();
      for (const [, commands] of stages) commands.forEach((command) => player.encode(encoder, command));
      this.device.queue.submit([encoder.finish()]);
      await this.device.queue.onSubmittedWorkDone();
    }
    const ns = (performance.now() - from) * 1e6;
    return ns > 0 ? ns : null;
  }
}

/** What is timed of a backend: stage, clock, and `run(bench, player, turns)`, nanoseconds of all turns. It outlives a device. */
class Series {
  constructor(stage, clock, step, run) {
    Object.assign(this, { stage, clock, step, run, turns: 1, samples: [], pieces: [], dropped: 0, pacer: null });
  }

  /** Finds how many turns last long enough. Also warms up. */
  async calibrate(bench, player) {
    for (;;) {
      const ns = await this.run(bench, player, this.turns);
      const wanted = STEPS * this.step;
      if (ns !== null && (ns >= wanted || ns >= LONGEST) || this.turns >= MOST_TURNS) return;
      const factor = ns === null ? 8 : Math.min(Math.max(1.3 * wanted / ns, 1.5), 16);
      this.turns = Math.min(Math.ceil(this.turns * factor), MOST_TURNS);
    }
  }

  async measure(bench, player, round) {
    const run = () => this.run(bench, player, this.turns);
    const { result: ns, piece } = bench.pacer ? await bench.pacer.around(run) : { result: await run(), piece: null };
    if (ns === null) {
      this.dropped += 1;
      return;
    }
    this.samples.push([round, Math.round(ns / this.turns)]);
    // A device that was lost has left another one, with pieces of its own.
    if (this.pacer !== bench.pacer) this.pieces = [];
    this.pacer = bench.pacer;
    if (piece !== null) this.pieces.push([round, piece]);
  }

  /** The device's clock while it was measured, in columns of summary.csv. */
  clockColumns() {
    return this.pacer?.columns(this.pieces.map(([, piece]) => piece)) ?? {};
  }

  /** Takes back the sample of a round that was disturbed. */
  forget(round) {
    this.samples = this.samples.filter(([of]) => of !== round);
    this.pieces = this.pieces.filter(([of]) => of !== round);
  }
}

/** The series of a backend that draws `passes` times. */
function series({ timestamps, batches }, player, passes, { upload, frame }) {
  const stages = player.stages(passes);
  const of = (wanted) => stages.filter(([stage]) => upload.includes(stage) === wanted);
  const list = [];
  if (player.backend.posedByHost) {
    const uploads = of(true).flatMap(([, commands]) => commands);
    list.push(new Series(upload[0], 'wall', batches.step, (bench, own, turns) => bench.batches.timeUpload(own, uploads, turns)));
  }
  const [clock, { step }] = timestamps ? ['gpu', timestamps] : ['wall', batches];
  for (const [stage, commands] of of(false)) {
    list.push(new Series(stage, clock, step, (bench, own, turns) => (timestamps ? bench.timestamps : bench.batches).time(own, commands, turns)));
  }
  // A frame includes posing. Where the page uploads palettes that were posed when it was made, there is no such time.
  if (!player.backend.posedByHost) {
    list.push(new Series(frame[0], 'wall', batches.step, (bench, own, turns) => bench.batches.timeFrames(own, stages, turns)));
  }
  return list;
}
