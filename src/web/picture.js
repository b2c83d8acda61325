// The moving crowd on the page.

const TICKS_PER_SECOND = 60;

/** The crowd on the canvas, drawn by the recorded frames of one backend. */
class Picture {
  constructor(source, canvas) {
    const { camera, resolution } = source.recording;
    this.source = source;
    this.context = canvas.getContext('2d');
    this.size = resolution;
    // A row of a texture is copied to a multiple of 256 bytes.
    this.row = Math.ceil(resolution[0] * 4 / 256) * 256;
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

  /** Moves to a device. The picture's crowd stays there, apart from what is measured. */
  open(device) {
    this.device = device;
    this.player = new Player(new Shared(device), this.source.recording.picture, this.source);
    this.pixels = device.createBuffer({ size: this.row * this.size[1], usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    return this.draw();
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

  /** Draws a frame after the last one, whatever became of that. */
  draw() {
    this.drawing = this.drawing.catch(() => null).then(() => this.drawn());
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
      await this.draw().catch(() => this.stop());
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Stops after the frame that is being drawn. */
  stop() {
    this.playing = false;
    return this.drawing.catch(() => null);
  }
}
