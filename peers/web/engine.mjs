// What the modules of engines share.

// The clip of an instance that plays none.
export const REST = 0xffff_ffff;

// Thrown for a model with which the engine's module cannot deal.
export class Refused extends Error {}

// Waits until everything that was drawn is drawn.
export function finish(gl) {
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

// The name of the adapter; Chromium puts it between others: ANGLE (vendor, adapter, driver).
export function adapterName(gl) {
  const name = gl.getParameter(gl.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL);
  return name.match(/^ANGLE \([^,]*, (.*), [^,]*\)$/)?.[1] ?? name;
}

// Copies matrices of four columns of four to three rows of four, from number `at` of `target` on. Returns where the next one goes.
export function copyRows(matrices, count, target, at) {
  let next = at;
  for (let start = 0; start < 16 * count; start += 16) {
    for (let row = 0; row < 3; row += 1) {
      for (let column = 0; column < 4; column += 1, next += 1) target[next] = matrices[start + 4 * column + row];
    }
  }
  return next;
}
