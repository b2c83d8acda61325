// three.js: AnimationMixer, skeletons by SkeletonUtils.clone, WebGLRenderer.
import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { clone } from 'three/addons/utils/SkeletonUtils.js';
import { REST, adapterName, copyRows, finish } from '/web/engine.mjs';

export const ABILITIES = { outputs: ['palette'], attributes: [], normals: [], rotations: 'slerp' };

function skinnedMeshes(root) {
  const meshes = [];
  root.traverse((node) => node.isSkinnedMesh && meshes.push(node));
  return meshes;
}

export async function create(canvas, clips) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: false });
  const gl = renderer.getContext();
  const scene = new THREE.Scene();
  // World matrices are updated by the stage `local_to_model`.
  scene.matrixWorldAutoUpdate = false;
  const sun = new THREE.DirectionalLight();
  sun.position.set(1, 2, 3);
  const camera = new THREE.PerspectiveCamera(50, canvas.width / canvas.height, 0.1, 1000);
  scene.add(sun);

  const { scene: original, animations, parser } = await new GLTFLoader().loadAsync('/model.glb');
  const skins = await parser.getDependencies('skin');
  const skinOf = skinnedMeshes(original).map((mesh) => skins.indexOf(mesh.skeleton));

  const characters = clips.map((clip) => {
    const root = clone(original);
    scene.add(root);
    // `clone` gives each mesh a skeleton of its own; the meshes of a character share one per skin, as those of the original do.
    const skeletons = skins.map(() => null);
    skinnedMeshes(root).forEach((mesh, index) => {
      skeletons[skinOf[index]] ??= mesh.skeleton;
      mesh.bind(skeletons[skinOf[index]], mesh.bindMatrix);
    });
    const mixer = new THREE.AnimationMixer(root);
    if (clip !== REST) mixer.clipAction(animations[clip]).play();
    return { mixer, skeletons };
  });
  const skeletons = characters.flatMap((character) => character.skeletons);
  const entries = skins.reduce((sum, skin) => sum + skin.bones.length, 0);
  const palettes = new Float32Array(characters.length * entries * 12);

  const bounds = new THREE.Box3().setFromObject(original);
  const center = bounds.getCenter(new THREE.Vector3());
  camera.position.copy(center).z += 2 * bounds.getSize(new THREE.Vector3()).length();
  camera.lookAt(center);
  camera.updateMatrixWorld();

  const palette = () => skeletons.forEach((skeleton) => skeleton.update());
  return {
    device: adapterName(gl),
    first: {
      sample: (times) => characters.forEach(({ mixer }, index) => mixer.setTime(times[index])),
      local_to_model: () => scene.updateMatrixWorld(),
    },
    render() {
      renderer.render(scene, camera);
      finish(gl);
    },
    inside: {
      palette,
      upload() {
        skeletons.forEach((skeleton) => renderer.initTexture(skeleton.boneTexture));
        finish(gl);
      },
    },
    palettes() {
      palette();
      skeletons.reduce((at, { boneMatrices, bones }) => copyRows(boneMatrices, bones.length, palettes, at), 0);
      return palettes;
    },
  };
}
