import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { ServedPin } from '../../ports.ts';
import { samplePin } from '../../testing/sample-pin.ts';
import { openServedFiles } from './served-files.ts';

const pin = samplePin;
const next: ServedPin = { ...pin, workload: 'g-2', previous: ['g-1'], policyRevision: '2' };

async function open() {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const directory = join(folder.path, 'served');
  const pinsDirectory = join(folder.path, 'served-pins');
  await mkdir(directory);
  await mkdir(pinsDirectory);
  const addresses = new Map([
    ['g-1', ['http://127.0.0.1:1']],
    ['g-2', ['http://127.0.0.1:2']],
  ]);
  const start = () =>
    openServedFiles({ directory, pinsDirectory, entries: [], addressesOf: (name) => addresses.get(name) ?? [] });
  const target = async (): Promise<unknown> => JSON.parse(await readFile(join(directory, 'text.json'), 'utf8'));
  return { directory, pinsDirectory, addresses, start, target };
}

test('the target of a served policy is one complete file that follows pin and addresses', async () => {
  const { addresses, start, target } = await open();
  const served = await start();
  expect(await served.point('text', pin, undefined)).toBe(true);
  expect(await target()).toEqual({
    addresses: ['http://127.0.0.1:1'],
    policyId: 'id',
    policyRevision: '1',
    bundleDigest: 'd'.repeat(64),
    contentProfile: 'p',
    maxBodyBytes: 8_192,
    maxMessages: 8,
    deadlineMs: { request: 100, response: 200 },
    division: { allowed: true },
  });
  addresses.set('g-1', ['http://127.0.0.1:3']);
  expect(await served.point('text', pin, pin)).toBe(false);
  expect(await target()).toMatchObject({ addresses: ['http://127.0.0.1:3'] });
  addresses.delete('g-1');
  await served.point('text', pin, pin);
  expect(await target()).toMatchObject({ addresses: ['http://127.0.0.1:3'] });
  expect(await served.point('text', next, pin)).toBe(true);
  expect(await target()).toMatchObject({ policyRevision: '2', addresses: ['http://127.0.0.1:2'] });
});

test('the next operator reads the pins of served policies and completes a missing target', async () => {
  const { directory, pinsDirectory, start, target } = await open();
  await (await start()).point('text', pin, undefined);
  await rm(join(directory, 'text.json'));
  await writeFile(join(pinsDirectory, 'broken.json'), '{');
  const served = await start();
  expect([...served.pins()]).toEqual([['text', pin]]);
  expect([...(await served.readPins())]).toEqual([['text', pin]]);
  expect(await served.point('text', pin, pin)).toBe(false);
  expect(await target()).toMatchObject({ policyRevision: '1' });
});

test('the target of a served policy that another pass has moved is not moved back', async () => {
  const { start, target } = await open();
  const served = await start();
  await served.point('text', next, undefined);
  await expect(served.point('text', pin, undefined)).rejects.toMatchObject({ code: 'conflict' });
  expect(await target()).toMatchObject({ policyRevision: '2' });
});

test('a withdrawn policy has no files, and an unknown one is ignored', async () => {
  const { directory, pinsDirectory, start } = await open();
  const served = await start();
  const told: string[] = [];
  served.onChange((name) => told.push(name));
  await served.point('text', pin, undefined);
  await served.withdraw('text');
  await served.withdraw('unknown');
  expect([await readdir(directory), await readdir(pinsDirectory), served.pins().size]).toEqual([[], [], 0]);
  await until('both changes are told', () => told.length === 2);
  expect(served.changes()).toBe(2);
});
