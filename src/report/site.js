// Filters and the comparison of two backends, for the page of many machines.
(() => {
  const data = JSON.parse(document.querySelector('#data').textContent);
  const form = document.querySelector('#filters');
  const versus = document.querySelector('#versus');
  const [one, other] = versus.querySelectorAll('select');
  const names = [...new Set(data.times.map((time) => time[2]))];
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
      .filter((index) => form.emulated.checked || !data.machines[index].emulated)
      .filter((index) => !form.division.value || data.machines[index].division === form.division.value)),
  });
  const fits = (own, filter) =>
    ['scene', 'passes', 'instances', 'quantity'].every((key) => !filter[key] || own[key] === undefined || String(own[key]) === filter[key])
    && (own.backend === undefined || own.backend.includes(filter.backend));
  const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  const compare = (filter) => {
    const machines = data.machines.map((machine, index) => ({ ...machine, index })).filter(({ index }) => filter.machine.has(String(index)));
    const head = document.createElement('tr');
    head.append(cell('th', 'crowd'), ...machines.map((machine) => cell('th', machine.name)));
    versus.querySelector('thead').replaceChildren(head);
    // Where drawing is emulated, frames say nothing.
    const find = (crowd, machine, name) => data.times.find((time) => time[0] === crowd && time[1] === machine.index && time[2] === name);
    const rows = data.crowds.map((crowd, index) => {
      const row = document.createElement('tr');
      const cells = machines.map((machine) => {
        const work = filter.quantity === WORK || (!filter.quantity && machine.emulated && crowd.passes > 0);
        const [first, second] = [one, other].map((select) => find(index, machine, select.value)?.[work ? 4 : 3]);
        if (!first || !second) return cell('td', '-');
        const ratio = first / second;
        const shown = cell('td', ratio.toFixed(2));
        shown.title = work ? WORK : 'frame';
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
