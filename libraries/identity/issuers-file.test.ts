import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readIssuersFile } from './issuers-file.ts';

async function read(text: string) {
  using folder = temporaryFolder();
  const path = join(folder.path, 'issuers.yaml');
  writeFileSync(path, text);
  return await readIssuersFile(path);
}

const entry = (name: string): string => `  - { issuer: ${name}, audience: a, jwksFile: keys.json }\n`;

test('an empty issuer list is valid and trusts no issuer', async () => {
  expect(await read('issuers: []\n')).toEqual([]);
});

test('the keys of an issuer are at a URL or in a file relative to the list', async () => {
  const issuers = await read(
    'issuers:\n  - { issuer: one, audience: a, jwksUrl: "https://one.example/keys" }\n  - { issuer: two, audience: b, jwksFile: two.json }\n',
  );
  expect(issuers).toEqual([
    { issuer: 'one', audience: 'a', jwks: new URL('https://one.example/keys') },
    { issuer: 'two', audience: 'b', jwks: { file: expect.stringMatching(/^\/.*\/two\.json$/) } },
  ]);
});

test('up to 32 issuers are accepted; more issuers or a repeated issuer are refused', async () => {
  const many = (count: number): string =>
    `issuers:\n${Array.from({ length: count }, (_, at) => entry(`i${at}`)).join('')}`;
  expect(await read(many(32))).toHaveLength(32);
  await expect(read(many(33))).rejects.toThrow();
  await expect(read(`issuers:\n${entry('one')}${entry('one')}`)).rejects.toThrow('the issuer one is listed twice');
});

test('keys at a URL without TLS are refused, except on loopback', async () => {
  const at = (url: string) => read(`issuers:\n  - { issuer: one, audience: a, jwksUrl: "${url}" }\n`);
  for (const url of ['https://one.example/k', 'http://127.0.0.1:1/k', 'http://[::1]/k', 'http://localhost/k']) {
    expect(await at(url)).toHaveLength(1);
  }
  for (const url of ['http://one.example/k', 'http://128.0.0.1/k', 'http://127.0.0.1.example/k', 'ftp://localhost/k']) {
    await expect(at(url)).rejects.toThrow();
  }
});

test('keys at a service inside the cluster are accepted only under a name that only the cluster resolves', async () => {
  const at = (url: string) => read(`issuers:\n  - { issuer: one, audience: a, serviceJwksUrl: "${url}" }\n`);
  const url = 'http://portcullis-gateway.team.svc:8080/.well-known/jwks.json';
  expect(await at(url)).toEqual([{ issuer: 'one', audience: 'a', jwks: new URL(url) }]);
  for (const other of ['http://one.example/k', 'http://team.svc/k', 'http://a.b.svc.example/k', 'http://10.0.0.1/k']) {
    await expect(at(other)).rejects.toThrow();
  }
});

test('conditions on tokens are read, and refused outside of their bounds', async () => {
  const base = 'issuer: one, audience: a, jwksFile: keys.json';
  const [issuer] = await read(
    `issuers:\n  - { ${base}, maxAgeSeconds: 3600, authorizedParties: [portal], scope: policies, accessTokensOnly: true }\n`,
  );
  expect(issuer?.tokens).toEqual({
    maxAgeSeconds: 3_600,
    authorizedParties: ['portal'],
    scope: 'policies',
    accessTokensOnly: true,
  });
  for (const wrong of ['maxAgeSeconds: 0', 'authorizedParties: []', 'scope: "a b"', 'maxAgeSeconds: 31536001']) {
    await expect(read(`issuers:\n  - { ${base}, ${wrong} }\n`)).rejects.toThrow();
  }
});

test('a missing list, or an issuer without keys, is refused', async () => {
  await expect(read('{}\n')).rejects.toThrow('issuers');
  await expect(read('issuers:\n  - { issuer: one, audience: a }\n')).rejects.toThrow();
});
