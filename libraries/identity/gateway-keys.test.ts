import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openGatewayKeyRing } from './gateway-key-ring.ts';
import { ensureGatewayKeys, GatewayKeysError, readGatewayKeys } from './gateway-keys.ts';
import { rotateGatewayKeys } from './testing/rotate-gateway-keys.ts';
import { createWorkloadVerifier, mintWorkloadToken } from './workload-token.ts';

const issuer = 'https://gateway.example';
const call = {
  issuer,
  agentId: 'agent-1',
  versionId: 'version-1',
  subject: { issuer: 'https://people.example', subject: 'ann' },
  actors: [],
  operation: 'message:send',
} as const;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder.path, 'keys.json');
  await ensureGatewayKeys(file);
});
afterEach(() => folder[Symbol.dispose]());

test('a missing file of gateway keys is created for its owner only, and a second start keeps its key', async () => {
  const [first] = await readGatewayKeys(file);
  await ensureGatewayKeys(file);
  expect((await readGatewayKeys(file)).map(({ kid }) => kid)).toEqual([first.kid]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.stringify(first.jwk)).not.toContain('"d"');
});

test('a new key is published before it signs, and a verifier that reads the set each second misses no token', async () => {
  const clock = createFakeClock();
  const ring = openGatewayKeyRing(file, clock);
  const verifier = createWorkloadVerifier({ ...call, jwks: { cache: ring.verifierKeys }, clock });
  const [old] = await readGatewayKeys(file);
  rotateGatewayKeys(file, new Date(clock.date().getTime() + 60_000));
  const [{ kid }] = await readGatewayKeys(file);
  const signers = new Set<string>();
  for (let second = 0; second < 120; second += 1) {
    clock.advance(1_000);
    const key = await ring.signingKey();
    signers.add(key.kid);
    expect(key.kid).toBe(second < 59 ? old.kid : kid);
    expect(await verifier.verify(await mintWorkloadToken({ ...call, key, clock }), 'message:send')).toMatchObject({
      kind: 'workload',
    });
  }
  expect(signers).toEqual(new Set([old.kid, kid]));
});

test('a key that was replaced is published until its longest grant has expired', async () => {
  const clock = createFakeClock();
  const ring = openGatewayKeyRing(file, clock);
  const [old] = await readGatewayKeys(file);
  rotateGatewayKeys(file, new Date(clock.date().getTime() + 60_000));
  const published = async () => (await ring.publicKeySet()).keys.map(({ kid }) => kid);
  clock.advance(60_000 + 904_000);
  expect(await published()).toContain(old.kid);
  clock.advance(2_000);
  expect(await published()).not.toContain(old.kid);
});

test('a file of eight gateway keys is read, and a file of nine is refused', async () => {
  const now = new Date('2026-01-01T00:00:00Z');
  for (let count = 1; count < 8; count += 1) rotateGatewayKeys(file, now);
  expect(await readGatewayKeys(file)).toHaveLength(8);
  rotateGatewayKeys(file, now);
  await expect(readGatewayKeys(file)).rejects.toThrow(GatewayKeysError);
});

test('a file without Ed25519 keys is refused, and the error names only the file', async () => {
  const [{ pem }] = (JSON.parse(readFileSync(file, 'utf8')) as { keys: [{ pem: string }] }).keys;
  for (const text of [
    '',
    '{}',
    '{"keys":[]}',
    '{"keys":[{"pem":"secret"}]}',
    `{"keys":[{"pem":"${pem.slice(0, 40)}"}]}`,
  ]) {
    writeFileSync(file, text);
    const error = await readGatewayKeys(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayKeysError);
    expect((error as Error).message).toContain(file);
    expect((error as Error).message).not.toContain('secret');
    await expect(openGatewayKeyRing(file).signingKey()).rejects.toThrow(GatewayKeysError);
  }
});
