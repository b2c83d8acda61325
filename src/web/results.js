// Rows in the columns of the native program's summary.csv and samples.csv.

const SUMMARY_COLUMNS = [
  'schema', 'run_id', 'utc', 'git_rev', 'dirty', 'rustc', 'os', 'cpu', 'threads', 'adapter', 'driver', 'scene', 'scene_hash',
  'instances', 'joints', 'vertices', 'influences', 'attributes', 'options', 'passes', 'visible', 'backend', 'variant', 'stage',
  'clock', 'status', 'error', 'frames', 'dropped', 'noisy', 'median_ns', 'mad_ns', 'min_ns', 'p95_ns', 'max_ns', 'bytes', 'limit',
  'pct_of_limit', 'parity_max_rel', 'parity_tol', 'clip_error',
];
const SAMPLE_COLUMNS = ['run_id', 'scene', 'backend', 'variant', 'stage', 'clock', 'frame', 'ns'];

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

/** The environment of all rows. A browser does not name the processor, so that column names the browser. */
function environment(navigator, info, isFallback) {
  const parts = [info.vendor, info.architecture, info.device].filter(Boolean);
  const name = info.description || parts.join(' ') || 'unnamed adapter';
  const isEmulated = isFallback || info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test([name, ...parts].join(' '));
  return {
    os: navigator.userAgentData?.platform || navigator.platform || '',
    cpu: `browser: ${browserName(navigator)}`,
    adapter: isEmulated ? `${name} (CPU-emulated)` : name,
    driver: `WebGPU${parts.length ? ` (${parts.join(', ')})` : ''}`,
    isEmulated,
  };
}

/** The rows of a backend at a point: one for each series, or a single one without times. */
function resultRows(recording, place, run, point, outcome) {
  const { crowd, passes } = point;
  const { backend } = outcome;
  const common = {
    schema: recording.schema, run_id: `${run.id}-${crowd.instances}-${passes}`, utc: run.utc, git_rev: recording.gitRev,
    dirty: recording.dirty, rustc: recording.rustc, os: place.os, cpu: place.cpu, threads: 1, adapter: place.adapter, driver: place.driver,
    scene: recording.scene, scene_hash: crowd.sceneHash, instances: crowd.instances, joints: crowd.joints, vertices: crowd.vertices,
    influences: crowd.influences, attributes: crowd.attributes, options: crowd.options, passes, backend: backend.backend,
    variant: backend.variant, status: outcome.status, error: outcome.error,
    parity_max_rel: Number.isFinite(outcome.parity?.position) ? outcome.parity.position : outcome.parity ? 'NaN' : null,
    parity_tol: outcome.parity && backend.tolerance.position, clip_error: backend.clipError,
  };
  if (outcome.series.length === 0) return { rows: [{ ...common, stage: 'frame', clock: 'wall' }], samples: [] };
  const rows = outcome.series.map(({ stage, clock, samples, dropped }) => {
    if (samples.length === 0) return { ...common, stage, clock, frames: 0, dropped };
    const { median, mad, min, p95, max, noisy } = summary(samples.map(([, ns]) => ns));
    return {
      ...common, stage, clock, frames: samples.length, dropped, noisy, median_ns: median, mad_ns: mad, min_ns: min, p95_ns: p95, max_ns: max,
      bytes: clock === 'gpu' ? backend.bytes[stage] : null,
    };
  });
  const samples = outcome.series.flatMap(({ stage, clock, samples: all }) => all.map(([frame, ns]) => ({
    run_id: common.run_id, scene: common.scene, backend: common.backend, variant: common.variant, stage, clock, frame, ns,
  })));
  return { rows, samples };
}
