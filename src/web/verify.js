// Compares vertices with those of the 64-bit reference. The limits are those of the native program.

/** A direction from two 16-bit octahedral coordinates; null for a vector without one. */
function unfolded(x, y) {
  if (x === -32768) return null;
  x /= 32767;
  y /= 32767;
  const z = 1 - Math.abs(x) - Math.abs(y);
  const fold = Math.max(-z, 0);
  x -= x >= 0 ? fold : -fold;
  y -= y >= 0 ? fold : -fold;
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}

/** The largest of two errors; NaN is the largest of all. */
const worse = (a, b) => (Number.isNaN(a) || a > b ? a : b);

/** Reads vertices of instances back: `numbers(instance)` of floats, instances counted from the first one read. */
function readVertices(buffers, read, vertices, floats) {
  const total = buffers.reduce((sum, buffer) => sum + buffer.byteLength / 4, 0);
  const all = new Float32Array(total);
  let at = 0;
  for (const buffer of buffers) {
    all.set(new Float32Array(buffer), at);
    at += buffer.byteLength / 4;
  }
  if (!read.texels) {
    const own = (instance) => all.subarray(instance * vertices * floats, (instance + 1) * vertices * floats);
    if (read.streams.length === 0) return own;
    // An instance's numbers are divided into streams, each with so many numbers per vertex.
    return (instance) => {
      const [stored, numbers] = [own(instance), new Float32Array(vertices * floats)];
      let first = 0;
      for (const width of read.streams) {
        if (first === floats) break;
        for (let vertex = 0; vertex < vertices; vertex++) {
          const at = first * vertices + vertex * width;
          numbers.set(stored.subarray(at, at + width), vertex * floats + first);
        }
        first += width;
      }
      return numbers;
    };
  }
  // Texels of positions, then of normals, then of tangents, with four numbers each.
  const texels = read.count * vertices;
  return (instance) => {
    const numbers = new Float32Array(vertices * floats);
    for (let vertex = 0; vertex < vertices; vertex++) {
      for (let number = 0; number < floats; number++) {
        const block = Math.floor(Math.min(number, 6) / 3);
        numbers[vertex * floats + number] = all[(block * texels + instance * vertices + vertex) * 4 + number - 3 * block];
      }
    }
    return numbers;
  };
}

/** Largest errors of an instance's vertices and the vertices that have them. */
function compare(numbers, reference, vertices, floats, diagonal) {
  const directions = floats === 3 ? 0 : floats === 6 ? 1 : 2;
  const stride = 12 + 4 * directions;
  const view = new DataView(reference.buffer, reference.byteOffset, reference.byteLength);
  const found = { position: 0, normal: 0, positionAt: 0, normalAt: 0 };
  for (let vertex = 0; vertex < vertices; vertex++) {
    const want = vertex * stride;
    const got = vertex * floats;
    const offsets = [0, 1, 2].map((axis) => numbers[got + axis] - view.getFloat32(want + 4 * axis, true));
    // Where dual quaternions cancel, the reference has no place; the vertex must be a number, though.
    if (Number.isNaN(view.getFloat32(want, true)) && Number.isFinite(numbers[got])) continue;
    const position = Math.hypot(...offsets) / diagonal;
    if (!(position <= found.position)) [found.position, found.positionAt] = [worse(position, found.position), vertex];
    for (let direction = 0; direction < directions; direction++) {
      const normal = unfolded(view.getInt16(want + 12 + 4 * direction, true), view.getInt16(want + 14 + 4 * direction, true));
      const first = got + 3 + 3 * direction;
      const length = Math.hypot(numbers[first], numbers[first + 1], numbers[first + 2]);
      if (!normal && !Number.isNaN(length)) continue;
      const chord = normal ? Math.hypot(...normal.map((part, axis) => numbers[first + axis] / length - part)) : NaN;
      const angle = 2 * Math.asin(Math.min(chord / 2, 1));
      if (!(angle <= found.normal)) [found.normal, found.normalAt] = [worse(angle, found.normal), vertex];
    }
  }
  return found;
}

/**
 * Runs frames of a backend and compares vertices. Returns the largest errors, the number of vertices compared, and the
 * first failure or null.
 */
async function verify(player, crowd) {
  const { backend } = player;
  const reference = crowd.references[backend.reference];
  const result = { position: 0, normal: 0, vertices: 0, failure: null };
  for (let tick = 0; tick < reference.length; tick++) {
    player.poison();
    player.upload(tick);
    await player.play(player.stages(0).flatMap(([, commands]) => commands));
    for (const read of backend.reads) {
      const group = crowd.groups[read.group];
      const sampled = crowd.sampled[read.group];
      const blobs = reference[tick][read.group];
      const isHere = (instance) => instance >= read.first && instance < read.first + read.count;
      // Palettes that the page uploads repeat those of the sampled instances, so that all can be compared.
      const compared = backend.posedByHost
        ? Array.from({ length: read.count }, (_, at) => [read.first + at, (read.first + at - group.first) % sampled.length])
        : sampled.map((instance, index) => [instance, index]).filter(([instance]) => isHere(instance));
      if (compared.length === 0) continue;
      const numbers = readVertices(await player.play(read.commands), read, group.vertices, crowd.floats);
      for (const [instance, index] of compared) {
        const found = compare(numbers(instance - read.first), player.source.blob(blobs[index]), group.vertices, crowd.floats, group.diagonal);
        result.position = worse(found.position, result.position);
        result.normal = worse(found.normal, result.normal);
        result.vertices += group.vertices;
        for (const what of ['position', 'normal']) {
          // Not `>`: NaN must fail.
          if (result.failure === null && !(found[what] <= backend.tolerance[what])) {
            result.failure = `${what} is off by ${found[what].toExponential(2)} (limit ${backend.tolerance[what].toExponential(0)}) `
              + `at tick ${crowd.ticks[tick]}, instance ${instance}, vertex ${found[`${what}At`]}`;
          }
        }
      }
    }
  }
  return result;
}
