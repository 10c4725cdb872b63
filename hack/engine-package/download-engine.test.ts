import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { root } from '../check/run-tool.ts';
import { createAuthority } from '../cluster/certificates/authority.ts';
import { checksumLine } from './engine-package.ts';

const engine = Buffer.from('engine');
const body = brotliCompressSync(engine);
const slot = '1.2.3/linux-x64-137';
const system = { platform: 'linux', arch: 'x64', abi: '137', libc: 'glibc' } as const;
const path = '/uhop/node-re2/releases/download/1.2.3/linux-x64-137.br';

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Downloads the engine with these environment variables. @returns whether it is in place */
async function download(folder: string, environment: Readonly<Record<string, string>>): Promise<boolean> {
  const file = join(folder, 're2.node');
  const checksums = join(folder, 'checksums');
  writeFileSync(checksums, `${checksumLine('1.2.3', system, engine)}\n`);
  const program = join(root, 'hack/download-engine.mjs');
  const child = spawn(process.execPath, [program, slot, file, checksums], { env: environment, stdio: 'ignore' });
  const [code] = await once(child, 'close');
  expect(existsSync(file)).toBe(code === 0);
  return code === 0 && readFileSync(file).equals(engine);
}

test('the engine is downloaded through an HTTP proxy', async () => {
  using scratch = temporaryFolder();
  const asked: unknown[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url);
    response.end(body);
  });
  const HTTP_PROXY = `http://127.0.0.1:${await portOf(proxy)}`;
  const RE2_DOWNLOAD_MIRROR = 'http://mirror.invalid';
  expect(await download(scratch.path, { HTTP_PROXY, RE2_DOWNLOAD_MIRROR })).toBe(true);
  expect(asked).toEqual([`http://mirror.invalid${path}`]);
  using other = temporaryFolder();
  expect(await download(other.path, { HTTP_PROXY, RE2_DOWNLOAD_MIRROR, NO_PROXY: '.invalid' })).toBe(false);
  expect(asked).toHaveLength(1);
  proxy.close();
});

test('the engine is downloaded encrypted through a proxy with a password, and the certificate is checked', async () => {
  using scratch = temporaryFolder();
  const authority = createAuthority();
  const { certificate, key } = authority.issueServer({ commonName: 'mirror' }, ['mirror.invalid']);
  const mirror = createTlsServer({ cert: certificate, key }, (_request, response) => void response.end(body));
  const port = await portOf(mirror);
  const asked: unknown[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push([request.url, request.headers['proxy-authorization']]);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  const environment = {
    HTTPS_PROXY: `http://ann:p%40ss@127.0.0.1:${await portOf(proxy)}`,
    RE2_DOWNLOAD_MIRROR: 'https://mirror.invalid',
  };
  expect(await download(scratch.path, environment)).toBe(false);
  const NODE_EXTRA_CA_CERTS = join(scratch.path, 'ca.pem');
  writeFileSync(NODE_EXTRA_CA_CERTS, authority.certificate);
  expect(await download(scratch.path, { ...environment, NODE_EXTRA_CA_CERTS })).toBe(true);
  const tunnelled = ['mirror.invalid:443', `Basic ${Buffer.from('ann:p@ss').toString('base64')}`];
  expect(asked).toEqual([tunnelled, tunnelled]);
  mirror.close();
  proxy.close();
});
