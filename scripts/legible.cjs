// Checks of legibility that tests of pages run in the browser.
'use strict';

// WCAG 2.2: relative luminance and contrast.
const contrastOf = `(a, b) => {
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}`;

// Text and marks that are too near to what is behind them.
const illegible = `() => {
  const contrast = ${contrastOf};
  const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const clear = (text) => text === 'none' || /rgba\\(.*, 0\\)/.test(text);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!clear(colour)) return rgb(colour);
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll('h1,h2,p,dt,dd,th,td,summary,figcaption,caption,a,li,button')) {
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const ratio = contrast(rgb(getComputedStyle(node).color), behind(node));
    if (ratio < 4.5) found.push(node.tagName + ' ' + node.textContent.trim().slice(0, 30) + ': ' + ratio.toFixed(2));
  }
  for (const node of document.querySelectorAll('.chart text, .chart .mark > :not(title)')) {
    const style = getComputedStyle(node);
    const colour = clear(style.fill) ? style.stroke : style.fill;
    const least = node.tagName === 'text' ? 4.5 : 3;
    const ratio = clear(colour) ? 0 : contrast(rgb(colour), behind(node));
    if (ratio < least) found.push(node.tagName + '.' + node.getAttribute('class') + ': ' + ratio.toFixed(2));
  }
  return [...new Set(found)];
}`;

// What a phone does not show as it is: pages wider than the window, and charts that are cut, too small to read, or whose
// bars are not as long as their figures.
const unfitForPhones = `() => {
  const found = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) found.push('the page is ' + page.scrollWidth + ' pixels wide');
  const nanoseconds = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 };
  const charts = [...document.querySelectorAll('.chart')].filter((chart) => chart.getClientRects().length);
  if (charts.length === 0) found.push('no chart is shown');
  for (const chart of charts) {
    const name = chart.getAttribute('aria-label');
    const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
    for (const part of chart.querySelectorAll('text, rect, circle, polygon, path')) {
      const { left, right } = part.getBoundingClientRect();
      if (left < -0.5 || right > innerWidth + 0.5) found.push(name + ': cut: ' + (part.textContent || part.outerHTML));
      if (part.tagName === 'text' && parseFloat(getComputedStyle(part).fontSize) * scale < 11) found.push(name + ': small: ' + part.textContent);
    }
    // The longest bar is the measure of the others; drawn lengths are whole pixels.
    const bars = [...chart.querySelectorAll('.mark rect')].map((bar) => {
      const [, figure, unit] = bar.parentElement.getAttribute('aria-label').match(/([\\d.]+) (ns|µs|ms|s)$/) ?? [];
      return { width: bar.getBoundingClientRect().width, ns: figure * nanoseconds[unit] };
    }).filter(({ ns }) => ns > 0);
    const longest = bars.reduce((a, b) => (b.ns > a.ns ? b : a), { ns: 0, width: 0 });
    for (const { width, ns } of bars) {
      const due = longest.width * ns / longest.ns;
      if (Math.abs(width - due) > 2.5 + 0.01 * due) found.push(name + ': a bar of ' + width + ' pixels, not ' + due);
    }
  }
  return [...new Set(found)];
}`;

module.exports = { illegible, unfitForPhones };
