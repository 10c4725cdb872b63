import * as crypto from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { judgedTextKinds } from '#contracts/judged-texts';
import { runGuard } from '../testing/run-guard.ts';

vi.mock('node:crypto', async (importOriginal) => {
  const real = await importOriginal<typeof crypto>();
  return { ...real, createHash: vi.fn(real.createHash) };
});
const hashed = vi.mocked(crypto.createHash);
beforeEach(() => {
  hashed.mockClear();
});

const coverage = {
  judged: new Set(judgedTextKinds),
  refuseUnjudged: false,
  limits: { maxMessages: 32, maxBodyBytes: 32_768 },
};
const frames = 500;
const run = (rest: (at: number) => object) => {
  const sent = Array.from({ length: frames }, (_, at) => ({
    ...rest(at),
    choices: [{ index: 0, delta: { content: 'word '.repeat(40) }, finish_reason: at === frames - 1 ? 'stop' : null }],
  }));
  const stream = [...sent.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`);
  return runGuard([Buffer.from(stream.join(''))], undefined, coverage);
};
const sources = (bytes: number) => Array.from({ length: 16 }, (_, at) => `${at} `.padEnd(bytes / 16, 'x'));

test.each([64, 1_024, 60_000])(
  'a value of %d bytes that each frame repeats is hashed in its first frame only',
  (bytes) => {
    const { end, windows } = run(() => ({ citations: sources(bytes) }));
    expect(end).toEqual({ kind: 'finished' });
    for (const one of sources(bytes)) expect(windows).toContain(one);
    expect(hashed.mock.calls.length).toBeLessThan(20);
  },
);

test('values that are longer than what is kept are compared by their digests, and judged once', () => {
  const { end, windows } = run(() => ({ citations: sources(70_000) }));
  expect(end).toEqual({ kind: 'finished' });
  for (const one of sources(70_000)) expect(windows.filter((text) => text === one)).toHaveLength(1);
  expect(hashed.mock.calls.length).toBeGreaterThan(frames);
});

test('a value that changes is judged in each form, and when forms alternate', () => {
  const { windows } = run((at) => ({ note: ['one', 'two', 'three'][at % 3] }));
  for (const one of ['one', 'two', 'three']) expect(windows.filter((text) => text === one)).toHaveLength(1);
});
