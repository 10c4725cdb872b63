import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import {
  bundle,
  detector,
  masking,
  policy,
  providersAt,
  regex,
  section,
  stopList,
} from '../../runtime/testing/build-bundle.ts';
import { checkText } from '../../runtime/testing/start-runtime.ts';
import type { Level } from './collect-on-signal.ts';
import { checkMany, type IsolatedRuntime, outcomes, pass, startReady } from './isolated-runtime.ts';
import { type MisbehavingDetector, startMisbehavingDetector } from './misbehaving-detector.ts';
import { sendSlowBodies, slowWays } from './slow-bodies.ts';

const maxBodyBytes = 131_072;
const limits = { ...defaultBundleLimits, maxBodyBytes, maxMatches: 1_024, maxConcurrency: 256 };
const local = [stopList('words', ['forbidden']), masking(regex('numbers', '[0-9]{4}-[0-9]{4}'), '#')];
const policies = [
  policy(section(local), undefined, 'local'),
  policy(section([...local, { ...detector('detector'), timeoutMs: 300 }]), undefined, 'asking'),
];

let provider: MisbehavingDetector;
let runtime: IsolatedRuntime;
beforeAll(async () => {
  provider = await startMisbehavingDetector();
  runtime = await startReady(bundle(policies, { limits, providers: providersAt(provider.url) }));
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

type Storm = () => Promise<void>;

async function hangingDetector(): Promise<void> {
  provider.behave('silence');
  const hanging = Array.from({ length: 256 }, () => runtime.check('request', ['hello'], asking));
  expect(outcomes(await Promise.all(hanging))).toEqual({ '503 rule_timeout': 256 });
  provider.behave('endless chunks');
  const flooded = Array.from({ length: 64 }, () => runtime.check('request', ['hello'], asking));
  const { '503 provider_invalid_answer': invalid = 0, '503 rule_timeout': late = 0 } = outcomes(
    await Promise.all(flooded),
  );
  expect(invalid + late).toBe(64);
  provider.behave('allow');
}
const asking = { 'x-ap-gr-policy-id': 'asking' };

async function slowBodies(): Promise<void> {
  const ways = Array.from({ length: 500 }, (_, at) => slowWays[at % slowWays.length] ?? 'nothing');
  using slow = await sendSlowBodies(runtime, ways);
  await until('every slow client has its answer', () => slow.outcomes().every((one) => one !== undefined));
}

/** Sends texts of maximum length, all of which are masked; on a busy machine the last of them exceed their deadline. */
async function largeTexts(): Promise<void> {
  const room = maxBodyBytes - checkText('request', ['']).length;
  const text = `${'1234-5678 '.repeat(500)}${'a'.repeat(room)}`.slice(0, room);
  const answers = await Promise.all(Array.from({ length: 64 }, () => runtime.check('request', [text])));
  const { '200 content_redacted': cleaned = 0, '503 stage_timeout': late = 0 } = outcomes(answers);
  expect(cleaned).toBeGreaterThan(0);
  expect(cleaned + late).toBe(64);
}

/** Bodies over the limit, which the runtime does not keep in memory. */
async function tooLargeTexts(): Promise<void> {
  const text = 'a'.repeat(2 * maxBodyBytes);
  const answers = await Promise.all(Array.from({ length: 100 }, () => runtime.check('request', [text])));
  expect(outcomes(answers)).toEqual({ '413 body_too_large': 100 });
}

async function manyConnections(of = runtime): Promise<void> {
  for (let wave = 0; wave < 2; wave += 1) expect(await checkMany(of, 500, { atOnce: 250 })).toEqual({ [pass]: 500 });
}

const storms: readonly (readonly [string, Storm])[] = [
  ['256 checks of a detector that never answers, and 64 of one whose answer never ends', hangingDetector],
  ['500 slow bodies', slowBodies],
  ['1,000 checks on many connections', () => manyConnections()],
  ['bodies over the limit', tooLargeTexts],
  ['64 of the largest texts at the same time', largeTexts],
];

/** Largest growth of memory over the level after a load. */
const share = 1.15;
/**
 * Number of warm-up loads, until code is compiled and pools are full: then a load leaves hardly more memory than the
 * previous load.
 */
const mostToSettle = 4;

function isBack({ live, resident }: Level, level: Level): boolean {
  return live <= level.live * share && resident <= level.resident * share;
}

/** The memory after a load once its last timers have expired: the third of three readings that do not fall. */
async function levelAfter(storm: Storm, of = runtime): Promise<Level> {
  await storm();
  let least = await of.settle();
  let still = 0;
  return until(
    'the memory in use after a load of checks stops growing',
    async () => {
      const level = await of.settle();
      still = level.live < least.live * 0.99 ? 0 : still + 1;
      if (level.live < least.live) least = level;
      return still < 3 ? undefined : { ...level, live: least.live };
    },
    { everyMs: 120 },
  );
}

test.each(storms)('the memory of a runtime returns to its level after %s', async (_, storm) => {
  let level = await levelAfter(storm);
  for (let count = 1; count < mostToSettle; count += 1) {
    const before = level;
    level = await levelAfter(storm);
    if (level.resident < before.resident * 1.05) break;
  }
  for (let round = 0; round < 2; round += 1) {
    await storm();
    await until('memory is back at its level', async () => isBack(await runtime.settle(), level));
    expect(await checkMany(runtime, 100, { atOnce: 8 })).toEqual({ [pass]: 100 });
  }
  expect(runtime.process.hasEnded()).toBe(false);
  expect(runtime.process.log()).not.toMatch(/"level":"error"|request_failed/);
});

test('the memory test detects a runtime that keeps 16 KiB of each check', async () => {
  await using leaking = await startReady(bundle([policy(section(local))], { limits }), ['leak-on-request.ts']);
  const level = await levelAfter(() => manyConnections(leaking), leaking);
  const later = await levelAfter(() => manyConnections(leaking), leaking);
  expect(isBack(level, level)).toBe(true);
  expect(isBack(later, level)).toBe(false);
});
