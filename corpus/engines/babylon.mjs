// Babylon.js: its loader, animation groups, and the positions and normals that Mesh computes on the processor; without a display.
import { createRequire } from 'node:module';
import { answer } from './answer.mjs';

const require = createRequire(import.meta.url);
globalThis.XMLHttpRequest ??= class {};
const BABYLON = require('babylonjs');
const { GLTFLoaderAnimationStartMode } = require('babylonjs-loaders');
// The console is for the answer.
BABYLON.Logger.LogLevels = BABYLON.Logger.NoneLogLevel;

const engine = new BABYLON.NullEngine();

await answer('Babylon.js', BABYLON.Engine.Version, async (bytes, expected, { time, animation }) => {
  const scene = new BABYLON.Scene(engine);
  scene.useRightHandedSystem = true;
  const isBinary = expected.file.endsWith('.glb');
  const source = isBinary ? new Uint8Array(bytes) : `data:${bytes}`;
  await BABYLON.AppendSceneAsync(source, scene, {
    pluginExtension: isBinary ? '.glb' : '.gltf',
    pluginOptions: { gltf: { animationStartMode: GLTFLoaderAnimationStartMode.NONE } },
  });
  if (animation !== null) {
    const group = scene.animationGroups[animation];
    group.start(false);
    group.pause();
    group.goToFrame(time * 60);
  }
  for (const object of [...scene.transformNodes, ...scene.meshes]) object.computeWorldMatrix(true);
  for (const skeleton of scene.skeletons) skeleton.prepare(true);
  // The loader makes them in the order of nodes.
  const meshes = scene.meshes.filter((mesh) => mesh.getTotalVertices() > 0);
  const parts = expected.parts.map(({ vertices }, part) => {
    const mesh = meshes[part];
    const world = mesh.getWorldMatrix();
    const shown = (numbers, transform) =>
      Array.from({ length: vertices }, (_, vertex) => transform(BABYLON.Vector3.FromArray(numbers, 3 * vertex), world).asArray());
    const positions = shown(mesh.getPositionData(true, true), BABYLON.Vector3.TransformCoordinates);
    const normals = mesh.getNormalsData(true, true);
    return normals ? { positions, normals: shown(normals, BABYLON.Vector3.TransformNormal) } : { positions };
  });
  scene.dispose();
  return parts;
});
