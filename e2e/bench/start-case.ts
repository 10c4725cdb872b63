import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { canonicalBytes } from '#contracts/canonical';
import { processMemory } from '#kit/testing/process-table';
import { bundle, policy, section, stopList } from '../../runtime/testing/build-bundle.ts';
import { median } from '../support/median.ts';
import { startTestRuntime } from '../support/start-test-runtime.ts';
import { termsOf } from './policies.ts';

/** The largest bundle file that a runtime loads. */
const largest = 716_800;
export const startBounds = { seconds: 1.5, mebibytes: 220 } as const;

export type StartFigure = { readonly bytes: number; readonly seconds: number; readonly mebibytes: number };

/**
 * Starts a runtime on the largest bundle of terms several times: time from spawn to ready, and resident memory when
 * ready.
 */
export async function measureStart(times: number): Promise<StartFigure> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-bench-'));
  try {
    const bytes = canonicalBytes(largestBundle());
    writeFileSync(join(folder, 'bundle.json'), bytes);
    writeFileSync(join(folder, 'token'), 'token-of-the-bench\n');
    const seconds: number[] = [];
    const mebibytes: number[] = [];
    for (let turn = 0; turn < times; turn++) {
      const start = performance.now();
      await using runtime = await startTestRuntime(join(folder, 'bundle.json'), join(folder, 'token'));
      seconds.push((performance.now() - start) / 1_000);
      mebibytes.push(processMemory(runtime.pid).resident / 1_048_576);
    }
    return { bytes: bytes.length, seconds: median(seconds), mebibytes: median(mebibytes) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bundle with the largest number of lists of 4,000 long terms that is not too large. */
function largestBundle(): Bundle {
  const words = termsOf(8_000);
  const listOf = (number: number) =>
    stopList(
      `terms-${number}`,
      words.slice(0, 4_000).map((word, index) => `${word} ${words[4_000 + ((index + number * 97) % 4_000)]} ${number}`),
      { match: 'token' },
    );
  const lists = [listOf(0)];
  const made = (): Bundle => bundle([policy(section(lists), section([]))]);
  while (canonicalBytes(made()).length < largest) lists.push(listOf(lists.length));
  let surplus = canonicalBytes(made()).length - largest;
  const last = lists.at(-1);
  if (last === undefined) throw new Error('there is at least one list');
  while (surplus > 0) surplus -= Buffer.byteLength(last.stopList.terms.pop() ?? '') + 3;
  return made();
}
