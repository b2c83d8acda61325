// Elements of the page by their names, and what it says.

const parameters = new URLSearchParams(location.search);
const byId = (id) => document.getElementById(id);
const setState = (name) => { document.documentElement.dataset.state = name; };

function say(text) {
  byId('status').textContent = text;
}

function advise(text) {
  byId('advice').textContent = text;
  byId('advice').hidden = false;
}

/** An element with a text. */
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
