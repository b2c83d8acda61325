'use strict';
// The recording in this page: commands of the native backends, the bytes that they refer to, and the shaders' texts.

/** Bytes behind base64 and zlib. */
async function inflated(base64) {
  const packed = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

/** The recording, `blob(index)` for its bytes, and `texts` of its shaders. */
async function unpacked(base64, texts) {
  const bytes = await inflated(base64);
  const length = new DataView(bytes).getUint32(0, true);
  const { recording, blobs } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  // A copy, so that blobs begin at multiples of four bytes.
  const data = bytes.slice(4 + length);
  const blob = (index) => new Uint8Array(data, blobs[index][0], blobs[index][1]);
  return { recording, blob, texts };
}
