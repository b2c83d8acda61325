// Babylon.js: AnimationGroup.goToFrame, skeletons by AssetContainer.instantiateModelsToScene, the WebGL engine.
import 'babylonjs';
import 'babylonjs-loaders';
import { REST, Refused, adapterName, copyRows, finish } from '/web/engine.mjs';

export const ABILITIES = { outputs: ['palette'], attributes: [], normals: [], rotations: 'slerp' };

export async function create(canvas, clips) {
  const { BABYLON } = globalThis;
  const engine = new BABYLON.Engine(canvas, false);
  const gl = canvas.getContext('webgl2');
  const scene = new BABYLON.Scene(engine);
  // As in glTF: nothing is mirrored.
  scene.useRightHandedSystem = true;
  new BABYLON.DirectionalLight('sun', new BABYLON.Vector3(-1, -2, -3), scene);

  const container = await BABYLON.LoadAssetContainerAsync('/model.glb', scene);
  if (container.skeletons.length !== 1) throw new Refused(`a model with ${container.skeletons.length} skins`);
  const characters = clips.map((clip) => {
    const { skeletons, animationGroups } = container.instantiateModelsToScene((name) => name, false, { doNotInstantiate: true });
    const played = clip === REST ? null : animationGroups[clip];
    for (const group of animationGroups) if (group !== played) group.dispose();
    played?.start(true).pause();
    return { skeleton: skeletons[0], played, rate: played?.targetedAnimations[0].animation.framePerSecond };
  });
  const skeletons = characters.map((character) => character.skeleton);
  const entries = container.skeletons[0].bones.length;
  const palettes = new Float32Array(characters.length * entries * 12);

  const { min, max } = scene.getWorldExtends();
  const center = min.add(max).scale(0.5);
  const camera = new BABYLON.FreeCamera('camera', center.add(new BABYLON.Vector3(0, 0, 2 * max.subtract(min).length())), scene);
  camera.setTarget(center);
  await scene.whenReadyAsync();

  // Composes matrices of joints, multiplies them with the inverse bind matrices, and updates the texture that shaders read.
  const pose = () => skeletons.forEach((skeleton) => skeleton.prepare(true));
  return {
    device: adapterName(gl),
    first: {
      sample: (times) => characters.forEach(({ played, rate }, index) => played?.goToFrame(times[index] * rate)),
    },
    render() {
      scene.render();
      finish(gl);
    },
    inside: { pose },
    palettes() {
      pose();
      skeletons.reduce((at, skeleton) => copyRows(skeleton.getTransformMatrices(null), entries, palettes, at), 0);
      return palettes;
    },
  };
}
