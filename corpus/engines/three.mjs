// three.js: GLTFLoader, AnimationMixer, and the positions that SkinnedMesh computes on the processor.
import { answer } from './answer.mjs';

// What the loader expects of a browser.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};
// The console is for the answer.
console.warn = console.log = () => {};

const THREE = await import('three');
const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');

await answer('three.js', THREE.REVISION, async (bytes, expected, { time, animation }) => {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { scene, animations, parser } = await new GLTFLoader().parseAsync(buffer, '');
  if (animation !== null) {
    const mixer = new THREE.AnimationMixer(scene);
    const action = mixer.clipAction(animations[animation]).setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    mixer.setTime(time);
  }
  scene.updateMatrixWorld(true);
  const meshes = new Map();
  scene.traverse((object) => object.isMesh && meshes.set(parser.associations.get(object)?.nodes, object));
  return expected.parts.map(({ node, vertices }) => {
    const mesh = meshes.get(node);
    const positions = Array.from({ length: vertices }, (_, vertex) => {
      const position = mesh.getVertexPosition(vertex, new THREE.Vector3());
      return position.applyMatrix4(mesh.matrixWorld).toArray();
    });
    return { positions };
  });
});
