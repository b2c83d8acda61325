// Answers the protocol's requests with an engine, whose module exports
//   ABILITIES: the answer to `hello` without the version of the protocol
//   create(canvas, clips): loads /model.glb, makes an instance for each number of a clip in `clips`, and returns
//     device: what draws
//     first: the stages that come before the frame is drawn, functions of each instance's time in its clip
//     render(): draws the frame and waits until it is drawn; contains the stages `inside`
//     inside: stages that can also be called alone, functions without arguments
//     palettes(): returns all palettes, [instance][entry][three rows of four]
import { Refused } from './engine.mjs';

let engine;
let crowd;
let scene;

const post = (url, body) => fetch(url, { method: 'POST', body });
const complain = (what) => post('/complaint', String(what?.stack ?? what));
addEventListener('error', (event) => complain(event.message));
addEventListener('unhandledrejection', (event) => complain(event.reason));

async function readCrowd() {
  const view = new DataView(await (await fetch('/instances')).arrayBuffer());
  return Array.from({ length: view.byteLength / 20 }, (_, index) => {
    const word = (number) => view.getUint32(20 * index + 4 * number, true);
    const number = (place) => view.getFloat32(20 * index + 4 * place, true);
    return { clip: word(0), phase: word(1), step: word(2), base: number(3), scale: number(4) };
  });
}

// Seconds in each instance's clip. The products are exact in 64 bits, so rounding them to 32 is what the reference does.
function timesAt(tick) {
  return crowd.map(({ phase, step, base, scale }) => {
    const cycle = (phase + Math.imul(step, tick)) >>> 0;
    return Math.fround(Math.fround((cycle >>> 8) * scale) + base);
  });
}

// The smallest step of the browser's clock in nanoseconds.
function clockStep() {
  let step = Infinity;
  for (let count = 0; count < 50; count += 1) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    step = Math.min(step, now - start);
  }
  return Math.round(step * 1e6);
}

// Nanoseconds of each frame. Neighbouring frames that together take less than 200 steps of the clock are given their mean.
function settled(milliseconds, step) {
  const total = milliseconds.reduce((sum, value) => sum + value, 0) * 1e6;
  const groups = Math.max(1, Math.min(milliseconds.length, Math.floor(total / (200 * step))));
  const group = (index) => Math.floor((index * groups) / milliseconds.length);
  const sums = Array(groups).fill(0);
  const sizes = Array(groups).fill(0);
  milliseconds.forEach((value, index) => {
    sums[group(index)] += value * 1e6;
    sizes[group(index)] += 1;
  });
  return milliseconds.map((_, index) => Math.round(sums[group(index)] / sizes[group(index)]));
}

async function hello() {
  engine = await import(`/${location.search.slice(1)}/engine.mjs`);
  return { protocol: 1, ...engine.ABILITIES };
}

async function load() {
  crowd = await readCrowd();
  const canvas = document.getElementById('canvas');
  scene = await engine.create(canvas, crowd.map(({ clip }) => clip));
  // Compiles shaders and makes buffers.
  pose(0);
  scene.render();
  const browser = navigator.userAgent.match(/Chrome\/\d+/)[0];
  return { device: `${browser}, clock of ${clockStep() / 1000} µs, ${scene.device}` };
}

function pose(tick) {
  const times = timesAt(tick);
  for (const run of Object.values(scene.first)) run(times);
}

async function write({ tick, outputs }) {
  if (tick !== undefined) pose(tick);
  for (const output of Object.keys(outputs)) await post(`/output/${output}`, scene.palettes());
  return {};
}

// Stages inside of the frame are timed after it, by calling them once more.
async function measure({ tick, frames }) {
  const times = {};
  const timed = (name, run) => {
    const start = performance.now();
    run();
    (times[name] ??= []).push(performance.now() - start);
  };
  for (let frame = 0; frame < frames; frame += 1) {
    timed('engine_frame', () => {
      const moments = timesAt(tick + frame);
      for (const [name, run] of Object.entries(scene.first)) timed(name, () => run(moments));
      scene.render();
    });
    for (const [name, run] of Object.entries(scene.inside)) timed(name, run);
  }
  const step = clockStep();
  return { stages: Object.fromEntries(Object.entries(times).map(([name, values]) => [name, settled(values, step)])) };
}

function problem(error) {
  if (error instanceof Refused) return { refused: error.message };
  complain(error);
  return { failed: String(error) };
}

const ANSWERS = { hello, load, write, measure };
for (;;) {
  const request = await (await fetch('/request')).json();
  if (request.request === 'quit') break;
  await post('/answer', JSON.stringify(await ANSWERS[request.request](request).catch(problem)));
}
