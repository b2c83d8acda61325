// The results as a bundle: the archive that `skinbench submit` makes of a folder.

/** SHA-256 of bytes or of a text, as 64 hexadecimal digits. */
async function sha256(data) {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What a page is made of: its scripts, the recording, and its shaders, each with the digest that it was made with. */
function partsOf(recording, texts) {
  const node = byId('recording');
  const script = document.querySelector('script:not([type])').textContent;
  return [
    { name: 'page', text: node.textContent + script, made: node.dataset.sha256 },
    ...texts.map((text, index) => ({ name: `shader ${index + 1}`, text, made: recording.shaders[index] })),
  ];
}

/** The state of the machine now, as far as a browser tells. */
async function conditions() {
  const battery = await navigator.getBattery?.().catch(() => null);
  return { utc: new Date().toISOString().replace(/\.\d+/, ''), power: battery ? (battery.charging ? 'mains' : 'battery') : null };
}

/** Frames that the display shows in a second: the median of some. */
async function refreshRate() {
  const times = [];
  while (times.length < 12) times.push(await new Promise(requestAnimationFrame));
  const steps = ascending(times.slice(1).map((time, index) => time - times[index]));
  return Math.round(1000 / steps[steps.length >> 1]);
}

/** Names and numbers of an object whose properties stand in its prototype. */
const numbersOf = (object) => Object.fromEntries(Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object)))
  .filter(([, { get }]) => get).map(([name]) => [name, object[name]]).filter(([, value]) => Number.isFinite(value)));

/** `environment.json`: the native program's form, with what a browser tells. */
async function sessionOf({ source: { recording, texts }, machine, run, outcomes, before, after, hidden, refreshRate, bench }) {
  const form = recording.session;
  const { adapter, timestamps, batches } = bench;
  const { vendor, architecture, device, description } = adapter.info;
  const parts = await Promise.all(partsOf(recording, texts).map(async ({ name, text, made }) => filled(recording.part, { name, made, ran: await sha256(text) })));
  return filled(form, {
    runs: outcomes.map(({ point }) => runOf(run, point)),
    program: filled(form.program, { sha256: parts[0].ran }),
    ...machine,
    device_clock: timestamps ? 'gpu' : 'wall',
    hardware: filled(form.hardware, { processors: navigator.hardwareConcurrency ?? 0 }),
    before: filled(form.before, before),
    after: filled(form.before, after),
    browser: filled(form.browser, {
      agent: navigator.userAgentData ? navigator.userAgentData.brands.map(({ brand, version }) => `${brand} ${version}`).join(', ') : navigator.userAgent,
      memory_gib: navigator.deviceMemory ?? null,
      refresh_hz: refreshRate,
      adapter: Object.fromEntries(Object.entries({ vendor, architecture, device, description }).filter(([, text]) => text)),
      limits: numbersOf(adapter.limits),
      features: [...adapter.features].sort(),
      clock_steps_ns: { ...(timestamps && { gpu: timestamps.step }), wall: Math.round(batches.step) },
      hidden,
      parts,
    }),
  });
}

/** A tar archive (ustar) of files: `[name, bytes]`. */
function archive(files) {
  const blocks = [];
  for (const [name, bytes] of files) {
    const head = new Uint8Array(512);
    const put = (at, text) => head.set(new TextEncoder().encode(text), at);
    const octal = (number, digits) => number.toString(8).padStart(digits, '0');
    put(0, name);
    [['0000644', 100], ['0000000', 108], ['0000000', 116], [octal(bytes.length, 11), 124], [octal(0, 11), 136]].forEach(([text, at]) => put(at, text));
    // The checksum counts its own field as spaces.
    put(148, '        0');
    put(257, 'ustar\0' + '00');
    put(148, `${octal(head.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
    blocks.push(head, bytes, new Uint8Array((512 - bytes.length % 512) % 512));
  }
  return new Blob([...blocks, new Uint8Array(1024)]);
}

/** The bundle of a measurement: its name, its bytes, and the same as text. */
async function bundleOf(measurement) {
  const pretty = (value) => `${JSON.stringify(value, null, 2)}\n`;
  const files = [...measurement.files(), ['environment.json', pretty([await sessionOf(measurement)])]];
  const held = files.map(([name, text]) => [name, new TextEncoder().encode(text)]);
  const facts = await Promise.all(held.map(async ([name, bytes]) => [name, { bytes: bytes.length, sha256: await sha256(bytes) }]));
  const manifest = filled(measurement.source.recording.manifest, { files: Object.fromEntries(facts) });
  const tar = archive([['manifest.json', new TextEncoder().encode(pretty(manifest))], ...held]);
  const bytes = new Uint8Array(await new Response(tar.stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());
  const { utc } = measurement.run;
  const words = `${measurement.machine.cpu} ${measurement.machine.adapter}`.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const [begin, end] = measurement.source.recording.marks;
  const letters = btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
  return { name: `${utc.slice(0, 10)}-${words}`, bytes, text: [begin, ...letters.match(/.{1,76}/g), end, ''].join('\n') };
}
