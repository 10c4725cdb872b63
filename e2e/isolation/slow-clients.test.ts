import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import { bundleOf, masking, stopList } from '../../runtime/testing/build-bundle.ts';
import { holdRequest } from '../../runtime/testing/held-request.ts';
import { checkText } from '../../runtime/testing/start-runtime.ts';
import { startLoad } from '../support/load.ts';
import { checkMany, type IsolatedRuntime, outcome, pass, startReady } from './isolated-runtime.ts';
import { headOf, sendSlowBodies, slowWays } from './slow-bodies.ts';

const count = 500;
const ways = Array.from({ length: count }, (_, at) => slowWays[at % slowWays.length] ?? 'nothing');

function startWith(maxConcurrency: number): Promise<IsolatedRuntime> {
  const limits = { ...defaultBundleLimits, maxConcurrency };
  return startReady(bundleOf([stopList('words', ['forbidden'])], [], { limits }));
}

const inFlight = (runtime: IsolatedRuntime): Promise<number> => runtime.metric('portcullis_runtime_checks_in_flight');

function counted(values: readonly unknown[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

test('500 slow request bodies use no check slot and end with stage_timeout while valid checks pass', async () => {
  await using runtime = await startWith(128);
  for (let round = 0; round < 2; round += 1) {
    const good = startLoad({ workers: 2, restMs: 1, call: () => runtime.check('request', ['hello']) });
    using slow = await sendSlowBodies(runtime, ways);
    const during: number[] = [];
    await until('every slow client has its answer', async () => {
      during.push(await inFlight(runtime));
      return slow.outcomes().every((one) => one !== undefined);
    });
    const answers = await good.stop();
    expect(counted(slow.outcomes())).toEqual({ '503 stage_timeout': count });
    expect(counted(answers.map(outcome))).toEqual({ [pass]: answers.length });
    expect(answers.length).toBeGreaterThan(20);
    // Two workers of valid checks take two slots at most.
    expect(Math.max(...during)).toBeLessThanOrEqual(2);
    // The runtime does not wait for the rest of an incomplete body.
    await until('the connections of the slow clients are closed', () => slow.closed() === count);
  }
  expect(await checkMany(runtime, 200, { atOnce: 8 })).toEqual({ [pass]: 200 });
});

test('slow request bodies above the limit of bodies in progress get overloaded, the others stage_timeout, and later checks pass', async () => {
  await using runtime = await startWith(32);
  using slow = await sendSlowBodies(runtime, ways);
  expect(outcome(await runtime.check('request', ['hello']))).toMatch(/^(?:200 policy_pass|503 overloaded)$/);
  await until('every slow client has its answer', () => slow.outcomes().every((one) => one !== undefined));
  const { '503 stage_timeout': late = 0, '503 overloaded': overloaded = 0, ...others } = counted(slow.outcomes());
  expect(others).toEqual({});
  expect(late).toBeGreaterThan(100);
  expect(overloaded).toBeGreaterThan(0);
  expect(await checkMany(runtime, 200, { atOnce: 8 })).toEqual({ [pass]: 200 });
});

test('a request body that arrives in several pieces before its deadline passes while 500 others do not arrive', async () => {
  await using runtime = await startWith(128);
  using slow = await sendSlowBodies(runtime, ways);
  const body = '{"body":{"messages":[{"role":"user","content":"hello"}]}}';
  // The deadline of the slow client is one second: on a busy machine the first attempt may exceed it.
  await until('a check whose body arrives in pieces passes', async () => {
    using patient = await holdRequest(
      runtime.url,
      headOf(runtime, `content-length: ${body.length}`) + body.slice(0, 10),
    );
    expect(outcome(await runtime.check('request', ['hello']))).toBe(pass);
    patient.send(body.slice(10, 20));
    expect(outcome(await runtime.check('request', ['hello']))).toBe(pass);
    patient.send(body.slice(20));
    await until('it is answered', () => patient.received().includes('HTTP/1.1 '));
    return patient.received().includes('policy_pass');
  });
  expect(slow.closed()).toBeLessThanOrEqual(count);
});

test('500 connections that send nothing, or half of their headers, do not delay other clients', async () => {
  await using runtime = await startWith(1);
  const texts = ['', 'POST /request HTTP/1.1\r\nhost: runtime\r\nauthoriz'];
  const silent = await Promise.all(
    Array.from({ length: count }, (_, at) => holdRequest(runtime.url, texts[at % 2] ?? '')),
  );
  try {
    expect(await checkMany(runtime, 200, { atOnce: 1 })).toEqual({ [pass]: 200 });
  } finally {
    for (const one of silent) one[Symbol.dispose]();
  }
  expect(await checkMany(runtime, 200, { atOnce: 1 })).toEqual({ [pass]: 200 });
});

test('clients that send requests without reading the answers are throttled, and other clients are answered', async () => {
  await using runtime = await startReady(bundleOf([masking(stopList('names', ['harbour']), 'place')]));
  const body = checkText('request', [`harbour ${'a'.repeat(30_000)}`]);
  const one = headOf(runtime, `content-length: ${body.length}`) + body;
  const asked = 400;
  const masked = () => runtime.metric('portcullis_runtime_checks_total', { decision: 'mask' });
  const before = await runtime.settle();
  const greedy = await Promise.all(Array.from({ length: 10 }, () => holdRequest(runtime.url, '')));
  try {
    for (const { socket, send } of greedy) {
      socket.pause();
      for (let count = 0; count < asked; count += 1) send(one);
    }
    let answered = -1;
    await until(
      'the throttled clients receive no further answers',
      async () => {
        const last = answered;
        answered = await masked();
        return last === answered && answered > 0;
      },
      { everyMs: 500 },
    );
    expect(answered).toBeLessThan(greedy.length * asked);
    expect(await checkMany(runtime, 100, { atOnce: 4 })).toEqual({ [pass]: 100 });
  } finally {
    for (const each of greedy) each[Symbol.dispose]();
  }
  const after = await runtime.settle();
  expect(after.resident - before.resident).toBeLessThan(128 * 1_048_576);
  expect(await checkMany(runtime, 200, { atOnce: 8 })).toEqual({ [pass]: 200 });
});
