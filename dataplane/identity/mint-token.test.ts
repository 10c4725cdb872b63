import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock } from '../kit/testing/fake-clock.ts';
import { createVerifier } from './create-verifier.ts';
import { mintToken } from './mint-token.ts';
import { ensureSigningKeys, publicKeySet, readSigningKeys, rotateSigningKeys } from './signing-keys.ts';

const clock = createFakeClock();
const said = { issuer: 'http://issuer.portcullis.localhost', subject: 'ann', audience: 'portcullis', clock };

let folder: string;
let keyFile: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-keys-'));
  keyFile = join(folder, 'keys.json');
  await ensureSigningKeys(keyFile);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function verify(token: string) {
  const jwks = join(folder, 'jwks.json');
  writeFileSync(jwks, JSON.stringify(publicKeySet(await readSigningKeys(keyFile))));
  const { issuer, audience } = said;
  return createVerifier({ issuers: [{ issuer, audience, jwks: { file: jwks } }], clock }).verify(token);
}

test('a minted token says what it was asked to say', async () => {
  const actors = [
    { issuer: said.issuer, subject: 'agent-2' },
    { issuer: 'https://other.example', subject: 'agent-1' },
  ];
  const token = await mintToken({ ...said, keyFile, ttlSeconds: 60, actors });
  expect(await verify(token)).toEqual({
    kind: 'identity',
    issuer: said.issuer,
    subject: 'ann',
    audience: 'portcullis',
    actors,
    expiresAt: new Date(clock.date().getTime() + 60_000),
    tokenId: expect.any(String),
  });
});

test('the file is for its owner only, and made once', async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const before = readFileSync(keyFile, 'utf8');
  await ensureSigningKeys(keyFile);
  expect(readFileSync(keyFile, 'utf8')).toBe(before);
});

test('tokens of the key before a rotation stay valid, those of the one before that do not', async () => {
  const first = await mintToken({ ...said, keyFile, ttlSeconds: 60 });
  await rotateSigningKeys(keyFile);
  const second = await mintToken({ ...said, keyFile, ttlSeconds: 60 });
  expect([(await verify(first)).kind, (await verify(second)).kind]).toEqual(['identity', 'identity']);
  expect(publicKeySet(await readSigningKeys(keyFile)).keys).toHaveLength(2);
  await rotateSigningKeys(keyFile);
  expect(await verify(first)).toMatchObject({ code: 'key_unknown' });
  expect((await verify(second)).kind).toBe('identity');
});

test('what is published holds nothing secret', async () => {
  for (const key of publicKeySet(await readSigningKeys(keyFile)).keys) {
    expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  }
});

describe('a file that holds no keys is refused, and not repeated', () => {
  test.each(['', '{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"hunter2"}]}'])('%s', async (text) => {
    writeFileSync(keyFile, text);
    const minting = mintToken({ ...said, keyFile, ttlSeconds: 60 });
    await expect(minting).rejects.toMatchObject({ code: 'signing_keys' });
    await expect(minting).rejects.not.toThrow('hunter2');
    expect(readFileSync(keyFile, 'utf8')).toBe(text);
  });
});
