// Plays a backend's recording with WebGPU. Nothing here knows what a command computes.

/** Resources of one device that players share: compiled pipelines, and buffers and textures that they fill in turn. */
class Shared {
  constructor(device) {
    this.device = device;
    this.compiled = new Map();
    this.pool = new Map();
  }

  /** What `make` makes, once for each key. */
  compile(key, make) {
    if (!this.compiled.has(key)) this.compiled.set(key, make());
    return this.compiled.get(key);
  }

  /** Frees the buffers and textures with labels of this kind that are filled in turn. */
  empty(labels) {
    for (const [key, { label, resource }] of this.pool) {
      if (!labels.includes(label)) continue;
      resource.destroy();
      this.pool.delete(key);
    }
  }
}

// Labels of what all backends fill in turn, so that a page needs it once: what only verification reads, and all of it.
const CAPTURES = ['captured first', 'captured second', 'captured texels', 'read back'];
const IN_TURN = ['skinned vertices', 'color', 'depth', ...CAPTURES];
// Colour of texels that no vertex reached: far from any crowd. WebGPU's colours cannot be NaN.
const NOWHERE = 3e38;

class Player {
  /** `source` has the recording's blobs and texts. */
  constructor(shared, backend, source) {
    this.shared = shared;
    this.device = shared.device;
    this.backend = backend;
    this.source = source;
    this.made = [];
    this.own = [];
    this.poses = new Map();
  }

  destroy() {
    for (const resource of this.own) resource.destroy();
    this.made = [];
    this.own = [];
    this.poses.clear();
  }

  /** Index of the first object with a label. */
  labelled(label) {
    return this.backend.objects.findIndex((object) => object.label === label);
  }

  /** The object with an index of the recording; it is created when it is needed for the first time. */
  object(index) {
    this.made[index] ??= this.make(this.backend.objects[index]);
    return this.made[index];
  }

  make(object) {
    switch (object.kind) {
      case 'buffer': return this.pooled(object, () => this.makeBuffer(object));
      case 'texture': return this.pooled(object, () => this.makeTexture(object));
      case 'view': return this.object(object.texture).createView();
      case 'groupLayout': return this.device.createBindGroupLayout({ entries: object.entries });
      case 'pipelineLayout': return this.device.createPipelineLayout({ bindGroupLayouts: object.groups.map((group) => this.object(group)) });
      case 'group': return this.device.createBindGroup({
        layout: this.object(object.layout),
        entries: object.entries.map(({ binding, view, buffer, offset, size }) => ({
          binding,
          resource: view === undefined ? { buffer: this.object(buffer), offset, size: size ?? undefined } : this.object(view),
        })),
      });
      case 'module': return this.shared.compile(this.key(object), () => this.device.createShaderModule({ label: object.label, code: this.source.texts[object.text] }));
      case 'compute': return this.shared.compile(this.key(object), () => this.device.createComputePipeline({
        label: object.label,
        layout: this.object(object.layout),
        compute: { module: this.object(object.module), entryPoint: object.entryPoint, constants: object.constants },
      }));
      case 'render': return this.shared.compile(this.key(object), () => this.device.createRenderPipeline({
        label: object.label,
        layout: this.object(object.layout),
        vertex: { ...object.vertex, module: this.object(object.vertex.module) },
        primitive: { topology: object.topology },
        depthStencil: object.depthStencil ?? undefined,
        fragment: object.fragment ? { ...object.fragment, module: this.object(object.fragment.module) } : undefined,
      }));
      default: throw new Error(`an object of kind ${object.kind}`);
    }
  }

  makeTexture({ size, format, usage, contents, bytesPerRow }) {
    const texture = this.device.createTexture({ size, format, usage });
    if (contents !== undefined) this.device.queue.writeTexture({ texture }, this.source.blob(contents), { bytesPerRow }, size);
    return texture;
  }

  makeBuffer({ label, size, usage, contents }) {
    const buffer = this.device.createBuffer({ label, size, usage, mappedAtCreation: contents !== undefined });
    if (contents !== undefined) {
      new Uint8Array(buffer.getMappedRange()).set(this.source.blob(contents));
      buffer.unmap();
    }
    return buffer;
  }

  pooled(object, make) {
    if (!IN_TURN.includes(object.label)) {
      const own = make();
      this.own.push(own);
      return own;
    }
    // Objects with one label and size that exist side by side are told apart by their number.
    const alike = this.backend.objects.filter((other) => other.label === object.label);
    const key = JSON.stringify([object.label, alike.indexOf(object), object.size, object.usage]);
    if (!this.shared.pool.has(key)) this.shared.pool.set(key, { label: object.label, resource: make() });
    return this.shared.pool.get(key).resource;
  }

  /** A descriptor with the descriptors of all that it refers to: equal for equal pipelines of different backends. */
  key(object) {
    const of = (index) => this.key(this.backend.objects[index]);
    switch (object.kind) {
      case 'module': return JSON.stringify(['module', object.text]);
      case 'groupLayout': return JSON.stringify(object.entries);
      case 'pipelineLayout': return JSON.stringify(object.groups.map(of));
      case 'compute': return JSON.stringify([object, of(object.layout), of(object.module)], this.unnumbered);
      default: return JSON.stringify([object, of(object.layout), of(object.vertex.module), object.fragment && of(object.fragment.module)], this.unnumbered);
    }
  }

  unnumbered(name, value) {
    return name === 'layout' || name === 'module' ? undefined : value;
  }

  write({ buffer, contents }) {
    this.device.queue.writeBuffer(this.object(buffer), 0, this.source.blob(contents));
  }

  /** Palettes of all instances of a chunk: the page holds those of some, which the others repeat. */
  palettes({ buffer, at: begin, instances, bytes, first, poses }) {
    const key = `${buffer}:${begin}:${poses[0]}`;
    if (!this.poses.has(key)) {
      const all = new Uint8Array(instances * bytes);
      for (let at = 0; at < instances; at++) all.set(this.source.blob(poses[(first + at) % poses.length]), at * bytes);
      this.poses.set(key, all);
    }
    return this.poses.get(key);
  }

  /** Sends a tick's data to the device. */
  upload(tick) {
    for (const command of this.backend.uploads[tick]) {
      if (command.do === 'write') this.write(command);
      else this.device.queue.writeBuffer(this.object(command.buffer), command.at, this.palettes(command));
    }
  }

  /** Fills skinned vertices with NaN, so that a vertex that is not written fails. */
  poison() {
    const words = new Uint32Array(1 << 20).fill(0x7fc00000);
    this.backend.objects.forEach((object, index) => {
      if (object.label !== 'skinned vertices') return;
      for (let at = 0; at < object.size; at += words.byteLength) {
        this.device.queue.writeBuffer(this.object(index), at, words, 0, Math.min(words.length, (object.size - at) / 4));
      }
    });
  }

  /** Records a command; `again` times what happens within it, with timestamps at its ends. */
  encode(encoder, command, again = 1, timestampWrites = undefined) {
    switch (command.do) {
      case 'compute': {
        const pass = encoder.beginComputePass({ label: command.label, timestampWrites });
        for (let turn = 0; turn < again; turn++) command.commands.forEach((inner) => this.within(pass, inner));
        return pass.end();
      }
      case 'render': {
        const { label, colors, depth, commands } = command;
        const pass = encoder.beginRenderPass({
          label,
          timestampWrites,
          colorAttachments: colors.map(({ view, clear }) => ({
            view: this.object(view), loadOp: clear ? 'clear' : 'load', storeOp: 'store', clearValue: clear?.map((part) => part ?? NOWHERE),
          })),
          depthStencilAttachment: depth
            ? { view: this.object(depth.view), depthLoadOp: depth.clear === null ? 'load' : 'clear', depthClearValue: depth.clear ?? 1, depthStoreOp: 'store' }
            : undefined,
        });
        commands.forEach((inner) => this.within(pass, inner));
        return pass.end();
      }
      case 'copy': return encoder.copyBufferToBuffer(this.object(command.from), command.fromOffset, this.object(command.to), command.toOffset, command.bytes);
      case 'toTexture': return encoder.copyBufferToTexture(
        { buffer: this.object(command.from), bytesPerRow: command.bytesPerRow }, { texture: this.object(command.to) }, this.sizeOf(command.to));
      case 'fromTexture': return encoder.copyTextureToBuffer(
        { texture: this.object(command.from) }, { buffer: this.object(command.to), bytesPerRow: command.bytesPerRow }, [this.sizeOf(command.from)[0], command.rows]);
      default: throw new Error(`a command ${command.do}`);
    }
  }

  /** Width and height of a texture. */
  sizeOf(texture) {
    return this.backend.objects[texture].size;
  }

  within(pass, command) {
    const length = ({ start, end }) => end - start;
    switch (command.do) {
      case 'pipeline': return pass.setPipeline(this.object(command.pipeline));
      case 'bind': return pass.setBindGroup(command.index, this.object(command.group), command.offsets);
      case 'indices': return pass.setIndexBuffer(this.object(command.buffer), 'uint32');
      case 'dispatch': return pass.dispatchWorkgroups(...command.workgroups);
      case 'dispatchIndirect': return pass.dispatchWorkgroupsIndirect(this.object(command.counts), command.offset);
      case 'draw': return pass.draw(length(command.vertices), length(command.instances), command.vertices.start, command.instances.start);
      case 'drawIndexed': return pass.drawIndexed(length(command.indices), length(command.instances), command.indices.start, 0, command.instances.start);
      case 'drawIndexedIndirect': return pass.drawIndexedIndirect(this.object(command.arguments), command.offset);
      default: throw new Error(`a command ${command.do} in a pass`);
    }
  }

  /** Plays commands in order and returns what they read back, one array for each `read`. */
  async play(commands) {
    let encoder = this.device.createCommandEncoder();
    const submit = () => {
      this.device.queue.submit([encoder.finish()]);
      encoder = this.device.createCommandEncoder();
    };
    const read = [];
    for (const command of commands) {
      if (command.do === 'write') {
        submit();
        this.write(command);
      } else if (command.do === 'read') {
        submit();
        const buffer = this.object(command.buffer);
        await buffer.mapAsync(GPUMapMode.READ, 0, command.bytes);
        read.push(buffer.getMappedRange(0, command.bytes).slice(0));
        buffer.unmap();
      } else {
        this.encode(encoder, command);
      }
    }
    submit();
    return read;
  }

  /** The frame's commands by stage, in order: `[stage, commands]`. A crowd is drawn `passes` times, in colour at last. */
  stages(passes) {
    const stages = [];
    const draws = [];
    for (const command of this.backend.frame) {
      const stage = command.do === 'compute' ? command.label : command.do === 'render' ? 'draw' : 'upload';
      if (stage === 'draw') {
        draws.push(command);
        continue;
      }
      if (stages.at(-1)?.[0] !== stage) stages.push([stage, []]);
      stages.at(-1)[1].push(command);
    }
    const depthOnly = new Array(Math.max(passes - 1, 0)).fill(draws[0]);
    if (passes > 0) stages.push(['draw', [...depthOnly, draws.at(-1)]]);
    return stages;
  }
}
