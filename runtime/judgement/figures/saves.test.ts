import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSaves } from './saves.ts';

test('a save that fails during other work does not end the process, and is reported at the end', async () => {
  const fault = new Error('no folder');
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', listen);
  try {
    const saves = createSaves(async () => Promise.reject(fault));
    saves.start();
    saves.start();
    await turn();
    await turn();
    expect(unhandled).toEqual([]);
    await expect(saves.ended()).rejects.toBe(fault);
  } finally {
    process.off('unhandledRejection', listen);
  }
});

test('concurrent saves of pattern figures run one after another', async () => {
  const done: number[] = [];
  let count = 0;
  const saves = createSaves(async () => {
    const own = count++;
    await turn();
    done.push(own);
  });
  for (let at = 0; at < 3; at++) saves.start();
  await saves.ended();
  expect(done).toEqual([0, 1, 2]);
});
