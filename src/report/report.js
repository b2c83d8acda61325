'use strict';
// Tooltips that follow pointer and keyboard. Without script the marks' own titles do.
const tip = document.createElement('div');
tip.id = 'tip';
tip.hidden = true;
tip.setAttribute('aria-hidden', 'true');
document.body.append(tip);
const show = (mark) => {
  tip.textContent = mark.getAttribute('aria-label');
  tip.hidden = false;
  const at = mark.getBoundingClientRect();
  const left = Math.min(at.left, innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${at.top > tip.offsetHeight + 8 ? at.top - tip.offsetHeight - 6 : at.bottom + 6}px`;
};
const hide = () => { tip.hidden = true; };
for (const chart of document.querySelectorAll('figure .chart')) {
  const marks = [...chart.querySelectorAll('.mark')];
  // One stop a chart; arrows go from mark to mark.
  marks[0]?.setAttribute('tabindex', '0');
  marks.forEach((mark, index) => {
    mark.querySelector('title').remove();
    mark.addEventListener('pointerenter', () => show(mark));
    mark.addEventListener('pointerleave', hide);
    mark.addEventListener('focus', () => show(mark));
    mark.addEventListener('blur', hide);
    mark.addEventListener('keydown', (event) => {
      const to = { ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1, ArrowUp: index - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (event.key === 'Escape') hide();
      if (marks[to] === undefined) return;
      event.preventDefault();
      mark.setAttribute('tabindex', '-1');
      marks[to].setAttribute('tabindex', '0');
      marks[to].focus();
    });
  });
}
// Headings that sort: numbers by their value, words by the alphabet, and the other way at the second press.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const way = head.getAttribute('aria-sort') === 'ascending' ? 'descending' : 'ascending';
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', way);
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
      const order = (a, b) => (isNaN(a) || isNaN(b) ? String(a).localeCompare(String(b)) : a - b);
      const rows = [...table.tBodies[0].rows].sort((a, b) => order(key(a), key(b)));
      table.tBodies[0].append(...(way === 'ascending' ? rows : rows.reverse()));
    });
  });
}
