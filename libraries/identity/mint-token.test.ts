import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createVerifier } from './create-verifier.ts';
import { mintToken } from './mint-token.ts';
import {
  ensureSigningKeys,
  longestTokenSeconds,
  publicKeySet,
  publishedKeys,
  readSigningKeys,
  rotateSigningKeys,
} from './signing-keys.ts';

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

test('a minted token has the requested claims', async () => {
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
    groups: [],
    tenants: [],
    expiresAt: new Date(clock.date().getTime() + 60_000),
    tokenId: expect.any(String),
  });
});

test('the key file is readable by its owner only and created once', async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const before = readFileSync(keyFile, 'utf8');
  await ensureSigningKeys(keyFile);
  expect(readFileSync(keyFile, 'utf8')).toBe(before);
});

const mint = (ttlSeconds = 60) => mintToken({ ...said, keyFile, ttlSeconds });
const rotate = (revoke = false) => rotateSigningKeys(keyFile, { now: clock.date(), revoke });
const signerOf = (token: string) => decodeProtectedHeader(token).kid;

describe('a rotation', () => {
  test('a rotated key is published before it signs, so that verifiers can fetch it', async () => {
    const first = await mint();
    const { kid, signsFrom, published } = await rotate();
    expect([published, signsFrom.getTime() - clock.date().getTime()]).toEqual([2, 35_000]);
    expect(publicKeySet(await readSigningKeys(keyFile)).keys.map((key) => key.kid)).toEqual([kid, signerOf(first)]);
    clock.advance(34_999);
    expect(signerOf(await mint())).toBe(signerOf(first));
    clock.advance(1);
    expect(signerOf(await mint())).toBe(kid);
  });

  test('tokens of earlier keys stay valid after a rotation until they expire', async () => {
    const long = await mint(longestTokenSeconds);
    await rotate();
    clock.advance(40_000);
    const second = await mint(3_600);
    await rotate();
    clock.advance(40_000);
    for (const token of [long, second, await mint()]) expect(await verify(token)).toMatchObject({ kind: 'identity' });
    clock.advance(3_600_000);
    expect(await verify(second)).toMatchObject({ code: 'expired' });
    expect(await verify(long)).toMatchObject({ kind: 'identity' });
  });

  test('a revoking rotation invalidates earlier tokens and signs immediately', async () => {
    const first = await mint();
    await rotate();
    const { kid, published } = await rotate(true);
    expect(published).toBe(1);
    expect(await verify(first)).toMatchObject({ code: 'key_unknown' });
    const next = await mint();
    expect(signerOf(next)).toBe(kid);
    expect(await verify(next)).toMatchObject({ kind: 'identity' });
  });

  test('a rotation that would drop a key with valid tokens is refused unless it revokes', async () => {
    for (let published = 2; published <= 8; published += 1) expect(await rotate()).toMatchObject({ published });
    const before = readFileSync(keyFile, 'utf8');
    await expect(rotate()).rejects.toMatchObject({ code: 'too_many_keys' });
    expect(readFileSync(keyFile, 'utf8')).toBe(before);
    clock.advance(longestTokenSeconds * 1_000 + 600_000);
    expect(await rotate()).toMatchObject({ published: 2 });
    expect(await rotate(true)).toMatchObject({ published: 1 });
  });

  test('an old key is published as long as its tokens can be valid', async () => {
    const { signsFrom } = await rotate();
    const keys = await readSigningKeys(keyFile);
    const last = signsFrom.getTime() + longestTokenSeconds * 1_000 + 300_000;
    expect(publishedKeys(keys, new Date(last - 1))).toHaveLength(2);
    expect(publishedKeys(keys, new Date(last))).toHaveLength(1);
  });
});

test('the published keys have no private members', async () => {
  await rotate();
  for (const key of publicKeySet(await readSigningKeys(keyFile)).keys) {
    expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  }
});

describe('an invalid key file is refused, and the error does not contain its content', () => {
  test.each(['', '{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"hunter2"}]}'])(
    'a file of signing keys %s is invalid',
    async (text) => {
      writeFileSync(keyFile, text);
      const minting = mintToken({ ...said, keyFile, ttlSeconds: 60 });
      await expect(minting).rejects.toMatchObject({ code: 'signing_keys' });
      await expect(minting).rejects.not.toThrow('hunter2');
      expect(readFileSync(keyFile, 'utf8')).toBe(text);
    },
  );
});
