// Usage: node hack/download-engine.mjs (--check SLOT | SLOT FILE CHECKSUMS): downloads the ready-made RE2 engine of a
// release to a file if CHECKSUMS lists its SHA-256, or checks that it is offered. Exits with 1 otherwise.
//
// Node 20 runs it before any package is installed. The package re2 has such a program, too, which verifies no
// checksum of an engine from a mirror and does not support a proxy.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { brotliDecompressSync } from 'node:zlib';

const { env } = process;
const maxRedirects = 5;
const checkMs = 3_000;
const silenceMs = 20_000;

/** Settings of mirrors as the package re2 has them: the path and the version can be left out. */
function addressOf(slot) {
  const [version, name] = slot.split('/');
  const parts = [(env.RE2_DOWNLOAD_MIRROR || 'https://github.com').replace(/\/+$/, '')];
  if (!env.RE2_DOWNLOAD_SKIP_PATH) parts.push('uhop/node-re2/releases/download');
  if (!env.RE2_DOWNLOAD_SKIP_VER) parts.push(version);
  return new URL(`${[...parts, name].join('/')}.br`);
}

/** The proxy for a host as npm and curl choose it; undefined without one. */
function proxyFor({ protocol, hostname }) {
  const direct = (env.NO_PROXY || env.no_proxy || env.npm_config_noproxy || '').split(/[\s,]+/).filter(Boolean);
  if (direct.some((name) => name === '*' || `.${hostname}`.endsWith(`.${name.replace(/^\./, '')}`))) return undefined;
  const own = protocol === 'https:' ? env.HTTPS_PROXY || env.https_proxy || env.npm_config_https_proxy : undefined;
  const text = own || env.HTTP_PROXY || env.http_proxy || env.npm_config_proxy;
  return text && text !== 'null' ? new URL(text) : undefined;
}

/** An encrypted connection to the host of a URL through a proxy. */
function tunnel(url, proxy) {
  const credentials = decodeURIComponent(`${proxy.username}:${proxy.password}`);
  const { promise, resolve, reject } = deferred();
  const path = `${url.hostname}:${url.port || 443}`;
  const headers = {
    host: path,
    ...(proxy.username ? { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` } : {}),
  };
  const { request } = proxy.protocol === 'https:' ? https : http;
  request(proxy, { method: 'CONNECT', path, headers })
    .on('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) resolve(tls.connect({ socket, servername: url.hostname }));
      else reject(new Error(`the proxy answered ${statusCode}`));
    })
    .on('error', reject)
    .end();
  return promise;
}

/** An agent that uses one connection. */
function agentOf(socket) {
  return Object.assign(new https.Agent(), { createConnection: () => socket });
}

function deferred() {
  let settle;
  const promise = new Promise((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

/** The body of the answer; empty for HEAD. An answer that ends early is an error. */
async function get(url, method, hops = 0) {
  const proxy = proxyFor(url);
  const isTunnelled = proxy !== undefined && url.protocol === 'https:';
  const socket = isTunnelled ? await tunnel(url, proxy) : undefined;
  const options = isTunnelled ? { agent: agentOf(socket) } : {};
  const { promise, resolve, reject } = deferred();
  const { request } = url.protocol === 'https:' ? https : http;
  const target = proxy !== undefined && !isTunnelled ? proxy : url;
  const viaProxy = target === url ? {} : { path: url.href, headers: { host: url.host } };
  request(target, { ...options, ...viaProxy, method, timeout: silenceMs }, (answer) => {
    const { statusCode, headers } = answer;
    const chunks = [];
    answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    answer.on('end', () => {
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined && hops < maxRedirects) {
        get(new URL(headers.location, url), method, hops + 1).then(resolve, reject);
      } else if (statusCode !== 200) reject(new Error(`${url.host} answered ${statusCode}`));
      else resolve(Buffer.concat(chunks));
    });
  })
    .on('timeout', function stop() {
      this.destroy(new Error(`${url.host} is silent`));
    })
    .on('error', reject)
    .end();
  return promise;
}

async function download(slot, file, checksums) {
  const engine = brotliDecompressSync(await get(addressOf(slot), 'GET'));
  const line = `${createHash('sha256').update(engine).digest('hex')}  ${slot}`;
  if (!readFileSync(checksums, 'utf8').split('\n').includes(line)) {
    throw new Error(`the engine ${slot} of ${addressOf(slot).host} has another checksum than ${checksums}`);
  }
  // An interrupted write leaves no partial engine behind.
  const partial = `${file}.${process.pid}`;
  try {
    writeFileSync(partial, engine, { mode: 0o755 });
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

const [first, ...rest] = process.argv.slice(2);
try {
  if (first === '--check') {
    setTimeout(() => process.exit(1), checkMs).unref();
    await get(addressOf(rest[0]), 'HEAD');
  } else await download(first, ...rest);
  process.exit(0);
} catch (error) {
  console.error(`download-engine: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
