// The results as one text, which `skinbench report` reads.

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
function sessionOf({ source: { recording }, machine, run, outcomes, hidden, refreshRate, bench }) {
  const form = recording.session;
  const { adapter, timestamps, batches } = bench;
  const { vendor, architecture, device, description } = adapter.info;
  return filled(form, {
    runs: outcomes.map(({ point }) => runOf(run, point)),
    ...machine,
    device_clock: timestamps ? 'gpu' : 'wall',
    browser: filled(form.browser, {
      agent: navigator.userAgentData ? navigator.userAgentData.brands.map(({ brand, version }) => `${brand} ${version}`).join(', ') : navigator.userAgent,
      memory_gib: navigator.deviceMemory ?? null,
      refresh_hz: refreshRate,
      adapter: Object.fromEntries(Object.entries({ vendor, architecture, device, description }).filter(([, text]) => text)),
      limits: numbersOf(adapter.limits),
      features: [...adapter.features].sort(),
      clock_steps_ns: { ...(timestamps && { gpu: timestamps.step }), wall: Math.round(batches.step) },
      hidden,
    }),
  });
}

/** The results of a measurement: a name, and one text that has all files. */
async function pageResults(measurement) {
  const environment = `${JSON.stringify([sessionOf(measurement)], null, 2)}\n`;
  const files = Object.fromEntries([...measurement.files(), ['environment.json', environment]]);
  const packed = new Blob([JSON.stringify(files)]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const letters = btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
  const { utc } = measurement.run;
  const words = `${measurement.machine.cpu} ${measurement.machine.adapter}`.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const [begin, end] = measurement.source.recording.marks;
  return { name: `${utc.slice(0, 10)}-${words}.txt`, text: [begin, ...letters.match(/.{1,76}/g), end, ''].join('\n') };
}
