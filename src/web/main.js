// The page: what its buttons do, and where results appear.

/** A link to a file that the page holds. */
function fileLink(name, data, type) {
  const link = element('a', name);
  link.download = name;
  link.href = URL.createObjectURL(new Blob([data], { type }));
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** Shows all that has been measured so far. */
function show(measurement) {
  const { stages } = measurement.source.recording;
  byId('results').hidden = false;
  const [first, ...others] = answers(measurement);
  byId('verdict').textContent = first;
  byId('answers').replaceChildren(...others.map((text) => element('li', text)));
  // The largest crowd first; the others fold away.
  const points = measurement.outcomes.toReversed();
  const headline = measurement.outcomes.find(({ point }) => point.crowd === points[0].point.crowd);
  const folded = measurement.outcomes.filter((one) => one !== headline).map((one) => {
    const details = document.createElement('details');
    details.append(element('summary', `${grouped(one.point.crowd.instances)} instances, ${drawn(one.point.passes)}`), pointTable(one, stages));
    return details;
  });
  byId('tables').replaceChildren(pointTable(headline, stages), ...folded);
  byId('charts').replaceChildren(...chartsOf(measurement));
}

/** Offers the results of a finished measurement as a file and as text. */
async function offer(measurement) {
  const { name, text } = await pageResults(measurement);
  byId('files').replaceChildren(fileLink(name, text, 'text/plain'));
  [[, byId('csv').textContent]] = measurement.files();
  byId('text').textContent = text;
  const note = (what) => () => { byId('sent').textContent = what; };
  const shared = { title: name, files: [new File([text], name, { type: 'text/plain' })] };
  byId('share').hidden = !navigator.canShare?.(shared);
  byId('share').onclick = () => navigator.share(shared).then(note('Shared.'), (error) => note(`Not shared: ${error.message}`)());
  byId('copy').onclick = () => navigator.clipboard.writeText(text).then(note('Copied.'), (error) => note(`Not copied: ${error.message}`)());
  byId('download').hidden = false;
}

function list(id, facts) {
  byId(id).replaceChildren(...facts.map(([name, value]) => {
    const row = document.createElement('div');
    row.append(element('dt', name), element('dd', value));
    return row;
  }));
}

function describeMethod(recording, { timestamps, batches, pacer }) {
  const largest = recording.crowds.at(-1);
  const instances = largest.sampled.reduce((sum, group) => sum + group.length, 0);
  const byHost = largest.backends.filter(({ posedByHost }) => posedByHost).map(({ name }) => name);
  const paragraphs = [
    `Before a backend is timed, it runs frames of every crowd, and its vertices are compared with those that a 64-bit reference computed when this page was made: ${grouped(instances)} instances at the ticks ${largest.ticks.map(grouped).join(', ')} of the largest crowd, some at the first tick of the smaller ones. Outputs are filled with NaN first. A position may be off by 1e-5 of the diagonal of the model's box, a direction by 1e-3 radians; backends that approximate on purpose state their own limit. The page holds positions as 32-bit floats and directions as two 16-bit numbers, each finer than a tenth of its limit. A backend that fails is not timed.`,
    ...(byHost.length > 0 ? [`Palettes that the CPU posed when this page was made are read by ${byHost.join(', ')}: those of the compared instances, which the others repeat. Such frames lack posing and have no time of a whole frame here.`] : []),
    timestamps
      ? `Stages are timed by timestamps on the device. Their step here is ${duration(timestamps.step)}, so a stage is repeated until it lasts ${STEPS} steps. Whole frames and uploads are timed by the page's clock (step ${duration(batches.step)}), until the queue is empty; that includes the browser's own way to the device.`
      : `This browser has no timestamps on the device. Stages are timed in batches by the page's clock (step ${duration(batches.step)}), until the queue is empty: rows with the clock “wall”. A stage is repeated until it lasts ${STEPS} steps.`,
    ...(pacer ? ['Before and after each measurement the device runs arithmetic without memory traffic, so that its clock does not fall while it waits. The time of that arithmetic is the clock: a measurement whose clock was more than 3 % below the best is repeated twice at most, and a row with many of them takes no part in a verdict.'] : []),
    'Backends take turns in every round. Figures are medians; ± is the 95 % interval of the median by order statistics. A tab in the background pauses, and what was disturbed is measured again. If the device is lost or does not answer, the backend at hand has no times, and the others go on.',
  ];
  byId('method').replaceChildren(...paragraphs.map((text) => element('p', text)));
}

/** Controls of the moving picture. */
function controls(picture) {
  const play = byId('play');
  const move = (isMoving) => {
    if (isMoving) picture.start();
    else picture.stop();
    play.textContent = isMoving ? 'Pause' : 'Play';
  };
  play.hidden = false;
  play.onclick = () => move(!picture.playing);
  return {
    move,
    /** Nothing else may use the device while it is measured. */
    async rest() {
      const wasMoving = picture.playing;
      play.disabled = true;
      picture.paused = true;
      await picture.stop();
      return () => {
        picture.paused = false;
        play.disabled = false;
        move(wasMoving);
      };
    },
  };
}

async function main() {
  const texts = [...document.querySelectorAll('pre.wgsl')].map((node) => node.textContent);
  const source = await unpacked(byId('recording').textContent, texts);
  const { recording } = source;
  const arithmetic = { wgsl: texts[recording.arithmetic.shader], workgroups: recording.arithmetic.workgroups };
  let bench = await Bench.open(arithmetic);
  const machine = machineOf(navigator, bench.adapter.info, recording.words);
  const { program } = recording.session;
  list('machine', [
    ['adapter', machine.adapter], ['browser', machine.cpu.replace('browser: ', '')], ['system', machine.os], ['interface', machine.driver],
    ['clock', bench.timestamps ? `timestamps, step ${duration(bench.timestamps.step)}` : 'batches, by the page’s clock'],
    ['made by', `skinbench ${program.version}${program.git_rev ? `, commit ${program.git_rev.slice(0, 10)}` : ''}${program.dirty ? ', changed since' : ''}`],
  ]);
  describeMethod(recording, bench);
  let picture = null;
  let moving = null;
  if (recording.picture) {
    picture = new Picture(source, byId('crowd'));
    const failure = await bench.guarded(() => picture.open(bench.device));
    byId('caption').textContent = failure ? `No picture: ${failure.error}` : `${grouped(recording.crowds.at(-1).instances)} instances, posed and skinned on this GPU by ${recording.picture.name}. Drag to turn.`;
    if (failure) picture = null;
    else moving = controls(picture);
  }
  const renewed = async () => {
    if (!bench.lost) return bench;
    bench = await Bench.open(arithmetic);
    await picture?.open(bench.device);
    return bench;
  };
  const start = async () => {
    setState('running');
    byId('start').disabled = true;
    byId('stop').hidden = false;
    byId('running').hidden = false;
    const resume = await moving?.rest();
    // A telephone that goes to sleep stops the page. Where that cannot be prevented, the page waits.
    const awake = await navigator.wakeLock?.request('screen').catch(() => null);
    const measurement = new Measurement(source, machine, renewed, show);
    byId('stop').onclick = () => { measurement.stopped = true; };
    const begin = performance.now();
    await measurement.all();
    const seconds = Math.round((performance.now() - begin) / 1000);
    await awake?.release();
    if (measurement.outcomes.length > 0) await offer(measurement);
    byId('stop').hidden = true;
    byId('running').hidden = true;
    byId('start').disabled = false;
    byId('start').textContent = 'Measure again';
    const bad = measurement.outcomes.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'parity_failed' || status === 'error');
    say(measurement.stopped ? 'Stopped.' : `Done in ${seconds} s.`);
    resume?.();
    setState(bad.length ? 'failed' : 'done');
  };
  byId('start').onclick = () => start().catch(fail);
  byId('start').disabled = false;
  say('Ready. It takes a minute or two; keep this tab in front.');
  setState('ready');
  moving?.move(!matchMedia('(prefers-reduced-motion: reduce)').matches);
  if (parameters.has('auto')) await start();
}

function fail(error) {
  setState('failed');
  say('It cannot run here.');
  advise(String(error.message ?? error));
}

main().catch(fail);
