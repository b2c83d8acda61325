// PlayCanvas: the anim component, skeletons by ContainerResource.instantiateRenderEntity, the WebGL 2 device.
import * as pc from 'playcanvas';
import { REST, Refused, adapterName, finish } from '/web/engine.mjs';

// Components of quaternions are interpolated, and the result is normalised.
export const ABILITIES = { outputs: ['palette'], attributes: [], normals: [], rotations: 'nlerp' };

async function createApp(canvas) {
  const graphicsDevice = await pc.createGraphicsDevice(canvas, { deviceTypes: [pc.DEVICETYPE_WEBGL2], antialias: false });
  const app = new pc.AppBase(canvas);
  app.init(Object.assign(new pc.AppOptions(), {
    graphicsDevice,
    componentSystems: [pc.RenderComponentSystem, pc.CameraComponentSystem, pc.LightComponentSystem, pc.AnimComponentSystem],
    resourceHandlers: [pc.ContainerHandler, pc.TextureHandler],
  }));
  app.setCanvasFillMode(pc.FILLMODE_NONE, canvas.width, canvas.height);
  app.setCanvasResolution(pc.RESOLUTION_FIXED, canvas.width, canvas.height);
  return app;
}

function loadModel(app) {
  return new Promise((resolve, reject) => {
    app.assets.loadFromUrl('/model.glb', 'container', (error, asset) => (error ? reject(new Error(error)) : resolve(asset.resource)));
  });
}

export async function create(canvas, clips) {
  const app = await createApp(canvas);
  const gl = canvas.getContext('webgl2');
  const model = await loadModel(app);
  const sun = new pc.Entity('sun');
  sun.addComponent('light', { type: 'directional' });
  sun.setEulerAngles(45, 30, 0);
  const camera = new pc.Entity('camera');
  camera.addComponent('camera', { clearColor: new pc.Color(0, 0, 0) });
  app.root.addChild(sun);
  app.root.addChild(camera);

  const characters = clips.map((clip) => {
    const entity = model.instantiateRenderEntity();
    app.root.addChild(entity);
    if (clip !== REST) {
      entity.addComponent('anim', { activate: true });
      entity.anim.assignAnimation('clip', model.animations[clip].resource);
    }
    const meshes = entity.findComponents('render').flatMap((render) => render.meshInstances).filter((mesh) => mesh.skinInstance);
    if (new Set(meshes.map((mesh) => mesh.skinInstance)).size !== 1) throw new Refused('a model with several skins');
    return { layer: entity.anim?.baseLayer, node: meshes[0].node, skin: meshes[0].skinInstance, meshes };
  });
  // Leaves the state in which components begin.
  app.update(0);

  const bounds = new pc.BoundingBox();
  bounds.copy(characters[0].meshes[0].aabb);
  for (const mesh of characters[0].meshes) bounds.add(mesh.aabb);
  camera.setPosition(bounds.center.x, bounds.center.y, bounds.center.z + 4 * bounds.halfExtents.length());

  // A number that differs from that of the last update makes a skin compute its palette again.
  let update = 0;
  // Multiplies the matrices of joints with the inverse bind matrices and uploads them.
  function palette() {
    update -= 1;
    for (const { skin, node } of characters) skin.updateMatrixPalette(node, update);
  }
  return {
    device: adapterName(gl),
    first: {
      sample(times) {
        characters.forEach(({ layer }, index) => {
          if (layer) layer.activeStateCurrentTime = times[index];
        });
        app.update(0);
      },
      local_to_model: () => app.root.syncHierarchy(),
    },
    render() {
      app.render();
      finish(gl);
    },
    inside: { palette },
    palettes() {
      palette();
      const [{ skin: { bones } }] = characters;
      const palettes = new Float32Array(characters.length * bones.length * 12);
      characters.forEach(({ skin }, index) => palettes.set(skin.matrixPalette.subarray(0, 12 * bones.length), 12 * bones.length * index));
      return palettes;
    },
  };
}
