import { beforeAll, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createVerifier } from './create-verifier.ts';
import { KeyCache } from './key-cache.ts';
import { type PublicKeys, readPublicKeys } from './public-keys.ts';
import { createTestKey, signText, type TestKey } from './testing/test-issuer.ts';
import { signatureFault } from './verify-signature.ts';

/** A key set that counts how often a signature is verified with it. */
function counted(...keys: readonly TestKey[]): PublicKeys & { readonly verified: () => number } {
  const { has, find } = readPublicKeys(Buffer.from(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })), 'the test');
  let count = 0;
  const counting = (...args: Parameters<typeof find>) => {
    count += 1;
    return find(...args);
  };
  return { has, find: Object.assign(counting, find), verified: () => count };
}

const repeated = { algorithms: ['EdDSA'], isRepeated: true } as const;
let key: TestKey;
let other: TestKey;

beforeAll(async () => {
  [key, other] = await Promise.all([createTestKey('EdDSA', 'one'), createTestKey('EdDSA', 'one')]);
});

test('the signature of a repeated token is verified once, and the signature of a single-use token each time', async () => {
  const keys = counted(key);
  const token = await signText(key, '{}');
  for (const _ of [1, 2, 3]) expect(await signatureFault(token, keys, repeated)).toBeUndefined();
  expect(keys.verified()).toBe(1);
  for (const _ of [1, 2]) await signatureFault(token, keys, { ...repeated, isRepeated: false });
  expect(keys.verified()).toBe(3);
});

test('a wrong signature is verified and refused each time, even after a token with the same claims was accepted', async () => {
  const keys = counted(key);
  expect(await signatureFault(await signText(key, '{}'), keys, repeated)).toBeUndefined();
  const forged = await signText(other, '{}');
  for (const _ of [1, 2])
    expect(await signatureFault(forged, keys, repeated)).toMatchObject({ code: 'signature_wrong' });
  expect(keys.verified()).toBe(3);
});

test('a verified token is not accepted for an algorithm that is not allowed', async () => {
  const keys = counted(key);
  const token = await signText(key, '{}');
  expect(await signatureFault(token, keys, repeated)).toBeUndefined();
  expect(await signatureFault(token, keys, { ...repeated, algorithms: ['ES256'] })).toMatchObject({
    code: 'algorithm_refused',
  });
});

test('a verified token is refused once it has expired, and once its key is no longer published', async () => {
  const clock = createFakeClock();
  let published = key;
  const cache = new KeyCache({
    load: async () => counted(published),
    clock,
    ...{ freshMs: 1_000, usableMs: 1_000, unknownMs: 1_000, failedMs: 1_000 },
  });
  const verifier = createVerifier({ issuers: [{ issuer: 'people', audience: 'agents', jwks: { cache } }], clock });
  const seconds = Math.floor(clock.date().getTime() / 1_000);
  const sign = (life: number) =>
    signText(key, JSON.stringify({ iss: 'people', aud: 'agents', sub: 'ann', exp: seconds + life }));
  const [short, long] = [await sign(60), await sign(600)];
  for (const token of [short, long, short]) expect(await verifier.verify(token)).toMatchObject({ subject: 'ann' });
  clock.advance(200_000);
  expect(await verifier.verify(short)).toMatchObject({ code: 'expired' });
  expect(await verifier.verify(long)).toMatchObject({ subject: 'ann' });
  published = other;
  clock.advance(1_000);
  expect(await verifier.verify(long)).toMatchObject({ code: 'signature_wrong' });
});
