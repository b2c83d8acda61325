// PlayCanvas: its loader and anim component, and the palettes that it uploads; without a display.
import { answer } from './answer.mjs';

// What the engine expects of a browser.
const element = () => ({
  getContext: () => null,
  style: {},
  addEventListener() {},
  removeEventListener() {},
  getBoundingClientRect: () => ({ width: 1, height: 1 }),
});
globalThis.document ??= { createElement: element, addEventListener() {}, removeEventListener() {}, body: element() };
globalThis.requestAnimationFrame ??= () => 0;
globalThis.location ??= { href: '' };
// The console is for the answer.
console.warn = console.log = () => {};

const pc = await import('playcanvas');
const canvas = element();
const app = new pc.AppBase(canvas);
const options = Object.assign(new pc.AppOptions(), {
  graphicsDevice: new pc.NullGraphicsDevice(canvas),
  componentSystems: [pc.RenderComponentSystem, pc.AnimComponentSystem],
  resourceHandlers: [pc.ContainerHandler],
});
app.init(options);

/** The resource of a file. */
function load(bytes, name) {
  const contents = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  // Keeps the displacements of targets in memory, too.
  const asset = new pc.Asset(name, 'container', { url: name, contents }, {}, { morphPreserveData: true });
  return new Promise((resolve, reject) => {
    asset.ready(() => resolve(asset.resource));
    asset.on('error', (error) => reject(new Error(error)));
    app.assets.add(asset);
    app.assets.load(asset);
  });
}

/** What stands for 1 in normalised numbers, by their type. */
const ONES = { [pc.TYPE_INT8]: 127, [pc.TYPE_UINT8]: 255, [pc.TYPE_INT16]: 32767, [pc.TYPE_UINT16]: 65535 };

/** A stream of a vertex buffer, as a shader reads it: one list for each vertex. */
function stream(mesh, semantic) {
  const element = mesh.vertexBuffer.format.elements.find(({ name }) => name === semantic);
  const numbers = [];
  mesh.getVertexStream(semantic, numbers);
  const one = element.normalize ? ONES[element.dataType] : 1;
  const rows = [];
  for (let first = 0; first < numbers.length; first += element.numComponents) {
    rows.push(numbers.slice(first, first + element.numComponents).map((number) => number / one));
  }
  return rows;
}

/** Adds the displacements of targets by their weights. */
function morph(instance, positions) {
  instance.morph.targets.forEach((target, index) => {
    const weight = instance.getWeight(index);
    const { deltaPositions } = target.options;
    positions.forEach((position, vertex) => position.forEach((_, c) => (position[c] += weight * deltaPositions[3 * vertex + c])));
  });
}

/** The matrix of a vertex, as the vertex shader sums it. */
function blended(palette, joints, weights) {
  const sum = new Float32Array(16);
  joints.forEach((joint, place) => palette[joint].data.forEach((number, at) => (sum[at] += weights[place] * number)));
  return new pc.Mat4().set(sum);
}

function vertices({ mesh, node, skinInstance, morphInstance }) {
  const positions = stream(mesh, pc.SEMANTIC_POSITION);
  if (morphInstance) morph(morphInstance, positions);
  const joints = skinInstance && stream(mesh, pc.SEMANTIC_BLENDINDICES);
  const weights = skinInstance && stream(mesh, pc.SEMANTIC_BLENDWEIGHT);
  const shown = positions.map((position, vertex) => {
    const point = new pc.Vec3(...position);
    if (skinInstance) blended(skinInstance.matrices, joints[vertex], weights[vertex]).transformPoint(point, point);
    node.getWorldTransform().transformPoint(point, point);
    return [point.x, point.y, point.z];
  });
  return { positions: shown };
}

let frame = 0;
await answer('PlayCanvas', pc.version, async (bytes, expected, { time, animation }) => {
  const container = await load(bytes, expected.file);
  const entity = container.instantiateRenderEntity();
  app.root.addChild(entity);
  if (animation !== null) {
    entity.addComponent('anim', { activate: true });
    entity.anim.assignAnimation('clip', container.animations[animation].resource, undefined, 1, false);
    app.update(0);
    entity.anim.baseLayer.activeStateCurrentTime = time;
  }
  app.update(0);
  // As the renderer does: skins that meshes share are updated once in a frame.
  frame += 1;
  const instances = entity.findComponents('render').flatMap((render) => render.meshInstances);
  for (const { node, skinInstance } of instances) skinInstance?.updateMatrixPalette(node, frame);
  const parts = instances.map(vertices);
  entity.destroy();
  return parts;
});
