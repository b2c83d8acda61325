// Rows of the native program's summary.csv and samples.csv. Their columns, and most of what stands in them, come from it.

/** A copy of what the native program wrote, with more values; it throws for a name that the program does not know. */
function filled(template, values) {
  for (const name of Object.keys(values)) {
    if (!(name in template)) throw new Error(`${name} is not among ${Object.keys(template).join(', ')}`);
  }
  return { ...template, ...values };
}

function csvField(value) {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (columns, rows) => [columns.join(','), ...rows.map((row) => columns.map((column) => csvField(row[column])).join(','))].map((line) => `${line}\n`).join('');

/** This browser's name and version, as far as it tells. */
function browserName(navigator) {
  const brands = (navigator.userAgentData?.brands ?? []).filter(({ brand }) => !/not.?a.?brand/i.test(brand));
  const own = brands.find(({ brand }) => brand !== 'Chromium') ?? brands[0];
  if (own) return `${own.brand} ${own.version}`;
  const [, name, version] = /(Firefox|Edg|Chrome|Version)\/([\d.]+)/.exec(navigator.userAgent) ?? [null, 'unknown browser', ''];
  return `${name === 'Version' ? 'Safari' : name} ${version}`.trim();
}

/** An adapter's name, and all parts of its description. */
function adapterNames(info) {
  const parts = [info.vendor, info.architecture, info.device].filter(Boolean);
  return { name: info.description || parts.join(' ') || 'unnamed adapter', parts };
}

/** Whether an adapter is emulated on the processor. */
function isSoftware(info) {
  const { name, parts } = adapterNames(info);
  return Boolean(info.isFallbackAdapter) || /swiftshader|llvmpipe|lavapipe|basic render/i.test([name, ...parts].join(' '));
}

/** The machine of all rows. A browser does not name the processor, so that column names the browser. */
function machineOf(navigator, info, { emulated }) {
  const { name, parts } = adapterNames(info);
  return {
    os: navigator.userAgentData?.platform || navigator.platform || '',
    cpu: `browser: ${browserName(navigator)}`,
    adapter: isSoftware(info) ? `${name} ${emulated}` : name,
    driver: `WebGPU${parts.length ? ` (${parts.join(', ')})` : ''}`,
  };
}

const runOf = (run, { crowd, passes }) => `${run.id}-${crowd.instances}-${passes}`;

/** The rows of a backend at a point: one for each series, or a single one without times. */
function resultRows(recording, machine, run, point, outcome) {
  const { passes } = point;
  const { backend } = outcome;
  const own = filled(backend.row, {
    run_id: runOf(run, point), utc: run.utc, ...machine, passes, status: outcome.status, error: outcome.error,
    parity_max_rel: Number.isFinite(outcome.parity?.position) ? outcome.parity.position : outcome.parity ? 'NaN' : null,
    parity_tol: outcome.parity && backend.tolerance.position,
  });
  if (outcome.series.length === 0) return { rows: [own], samples: [] };
  const rows = outcome.series.map((series) => {
    const { stage, clock, samples, dropped } = series;
    const kind = recording.stages.whole.includes(stage) ? 'whole' : 'part';
    const timed = filled(own, { stage, clock, kind, frames: samples.length, dropped });
    if (samples.length === 0) return timed;
    const { median, mad, min, p95, p99, max, noisy } = summary(samples.map(([, ns]) => ns));
    return filled(timed, {
      noisy, median_ns: median, mad_ns: mad, min_ns: min, p95_ns: p95, p99_ns: p99, max_ns: max, moved_bytes: clock === 'gpu' ? backend.bytes[stage] : null,
      ...series.clockColumns(),
    });
  });
  const { run_id, scene, instances } = own;
  const samples = outcome.series.flatMap(({ stage, clock, samples: all }) => all.map(([frame, ns]) => filled(recording.sample, {
    run_id, scene, instances, passes, backend: own.backend, variant: own.variant, stage, clock, frame, ns,
  })));
  return { rows, samples };
}
