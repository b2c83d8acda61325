// Filters and the comparison of two backends, for the page of many machines.
(() => {
  const machines = [...document.querySelectorAll('#adapters thead th[data-machine]')]
    .map(({ dataset }) => ({ ...dataset, emulated: 'emulated' in dataset }));
  const times = [...document.querySelectorAll('#adapters tbody tr')];
  const nanoseconds = ({ dataset }) => dataset.ns && Number(dataset.ns);
  // By index; without those that no machine has times of.
  const crowds = [];
  for (const row of times) {
    const { crowd, backend, quantity, ...own } = row.dataset;
    const known = crowds[crowd] ??= { ...own, text: row.cells[0].textContent, times: {} };
    known.times[`${backend}/${quantity}`] = [...row.querySelectorAll('td[data-machine]')].map(nanoseconds);
  }
  const form = document.querySelector('#filters');
  const versus = document.querySelector('#versus');
  const [one, other] = versus.querySelectorAll('select');
  const names = [...new Set(times.map((row) => row.dataset.backend))];
  for (const [select, chosen] of [[one, 0], [other, 1]]) {
    names.forEach((name, index) => select.append(new Option(name, name, false, index === Math.min(chosen, names.length - 1))));
  }
  form.hidden = false;
  versus.querySelector('.choice').hidden = false;
  const WORK = 'pose + upload + skin';
  const wanted = () => ({
    scene: form.scene.value,
    passes: form.passes.value,
    instances: form.instances.value,
    quantity: form.quantity.value,
    backend: form.backend.value.trim(),
    machine: new Set([...form.querySelectorAll('[name=machine]:checked')].map((box) => box.value)
      .filter((index) => form.emulated.checked || !machines[index].emulated)
      .filter((index) => !form.division.value || machines[index].division === form.division.value)),
  });
  const fits = (own, filter) =>
    ['scene', 'passes', 'instances', 'quantity'].every((key) => !filter[key] || own[key] === undefined || String(own[key]) === filter[key])
    && (own.backend === undefined || own.backend.includes(filter.backend));
  const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  const compare = (filter) => {
    const chosen = machines.filter(({ machine }) => filter.machine.has(machine));
    const head = document.createElement('tr');
    head.append(cell('th', 'crowd'), ...chosen.map(({ name }) => cell('th', name)));
    versus.querySelector('thead').replaceChildren(head);
    const rows = crowds.map((crowd) => {
      const row = document.createElement('tr');
      const cells = chosen.map(({ machine, emulated }) => {
        // Where drawing is emulated, frames say nothing.
        const quantity = filter.quantity === WORK || (!filter.quantity && emulated && crowd.passes > 0) ? WORK : 'frame';
        const [first, second] = [one, other].map((select) => crowd.times[`${select.value}/${quantity}`]?.[machine]);
        if (!first || !second) return cell('td', '-');
        const ratio = first / second;
        const shown = cell('td', ratio.toFixed(2));
        shown.title = quantity;
        const bar = document.createElement('span');
        bar.className = ratio > 1 ? 'bar slower' : 'bar';
        bar.style.width = `${Math.max(1, Math.min(90, 30 * Math.abs(Math.log2(ratio))))}px`;
        shown.prepend(bar);
        shown.dataset.ratio = ratio;
        return shown;
      });
      row.append(cell('th', crowd.text), ...cells);
      return fits(crowd, filter) && cells.some((shown) => shown.dataset.ratio) ? row : null;
    });
    versus.querySelector('tbody').replaceChildren(...rows.filter(Boolean));
  };
  const apply = () => {
    const filter = wanted();
    for (const row of document.querySelectorAll('tr[data-scene]')) {
      const machine = row.dataset.machine;
      row.hidden = !fits(row.dataset, filter) || (machine !== undefined && !filter.machine.has(machine));
    }
    for (const own of document.querySelectorAll(':is(th, td)[data-machine]')) own.hidden = !filter.machine.has(own.dataset.machine);
    compare(filter);
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  versus.addEventListener('input', apply);
  apply();
})();
