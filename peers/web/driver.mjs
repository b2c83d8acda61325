// Stands between skinbench and a page in headless Chromium: node driver.mjs ENGINE BUILD
// Passes the lines of the protocol (docs/peers.md) to the page and its answers back, serves it the engine's packages from BUILD,
// the model and the crowd, and writes to files what it computes. CHROMIUM names the browser,
// CHROMIUM_FLAGS the flags that choose its adapter.
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const [engine, build] = process.argv.slice(2);
const peers = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// The adapter that scripts/browse-web gives to our own page, so that all machines draw with the same.
const ADAPTER = process.env.CHROMIUM_FLAGS ?? '--use-angle=swiftshader --enable-unsafe-swiftshader';
const FLAGS = ['--headless', '--no-sandbox', '--no-first-run', '--disable-extensions', ...ADAPTER.split(' ')];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript' };
// A page that is isolated from others has the finest clock that the browser gives.
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp', 'Cache-Control': 'no-store' };

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// What the page may read, and where it may write to.
const readable = {};
let writable = {};

async function next() {
  const { value, done } = await lines.next();
  const request = done ? { request: 'quit' } : JSON.parse(value);
  if (request.request === 'quit') quit();
  if (request.request === 'load') Object.assign(readable, { '/model.glb': request.glb, '/instances': request.instances });
  writable = request.outputs ?? {};
  return JSON.stringify(request);
}

function file(url) {
  if (url in readable) return readable[url];
  if (url === '/') return path.join(peers, 'web', 'page.html');
  const folder = url.startsWith('/node_modules/') ? build : peers;
  return path.join(folder, path.normalize(url));
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  try {
    if (pathname === '/request') return response.writeHead(200, ISOLATED).end(await next());
    if (pathname === '/answer') process.stdout.write(`${await text(request)}\n`);
    else if (pathname === '/complaint') console.error(await text(request));
    else if (pathname.startsWith('/output/')) await pipeline(request, createWriteStream(writable[pathname.slice('/output/'.length)]));
    else {
      response.writeHead(200, { ...ISOLATED, 'Content-Type': TYPES[path.extname(file(pathname))] ?? 'application/octet-stream' });
      return await pipeline(createReadStream(file(pathname)), response);
    }
    response.writeHead(204, ISOLATED).end();
  } catch (error) {
    console.error(`${pathname}: ${error.message}`);
    response.destroy();
  }
});

let browser;
const profile = mkdtempSync(path.join(build, 'profile-'));
server.listen(0, 'localhost', () => {
  const page = `http://localhost:${server.address().port}/?${engine}`;
  browser = spawn(process.env.CHROMIUM ?? 'chromium', [...FLAGS, `--user-data-dir=${profile}`, page], { stdio: 'ignore' });
  browser.on('error', (error) => fail(error.message));
  browser.on('exit', (code) => fail(`the browser ended with ${code}`));
});

function fail(why) {
  process.stdout.write(`${JSON.stringify({ failed: why })}\n`);
  leave(1);
}

function quit() {
  browser.removeAllListeners('exit');
  browser.on('exit', () => leave(0));
  browser.kill();
}

function leave(code) {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}
