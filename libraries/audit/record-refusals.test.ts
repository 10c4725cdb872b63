import { expect, test } from 'vitest';
import type { AuditAuthor, AuditContent } from '#contracts/audit';
import { createRefusalRecorder, refusalLimits } from './record-refusals.ts';

const token = (subject: string): AuditAuthor => ({ kind: 'token', issuer: 'http://issuer.test', subject, actors: [] });
const unknown: AuditAuthor = { kind: 'unknown' };

function refusal(author: AuditAuthor, code = 'permission_denied', target = 'policy-1') {
  const about = { type: 'policy', id: target } as const;
  return { action: 'policy.update', code, author, client: 'public', target: about, traceId: 'a'.repeat(32) } as const;
}

function openRecorder() {
  const written: AuditContent[] = [];
  const state = { isAway: false, failures: 0, traces: [] as (string | null)[] };
  const recorder = createRefusalRecorder({
    log: {
      write: (contents) => {
        if (state.isAway) return Promise.reject(new Error('away'));
        written.push(...contents);
        return Promise.resolve();
      },
    },
    clock: { now: () => 0, date: () => new Date(0) },
    onFailure: (_error, traceId) => {
      state.failures += 1;
      state.traces.push(traceId);
    },
  });
  return { recorder, written, state };
}

test('refusals without a verified subject are counted and stored as one entry for each code', async () => {
  const { recorder, written } = openRecorder();
  for (let at = 0; at < 10_000; at++) await recorder.record(refusal(unknown, 'unauthenticated', `policy-${at}`));
  await recorder.record(refusal(unknown, 'identity_unavailable'));
  expect(written).toEqual([]);
  await recorder[Symbol.asyncDispose]();
  expect(written.map(({ code, count, target, traceId }) => [code, count, target?.id, traceId?.length])).toEqual([
    ['unauthenticated', 10_000, undefined, undefined],
    ['identity_unavailable', 1, 'policy-1', 32],
  ]);
});

test('a subject can add 30 entries in a minute, and the next one is only counted', async () => {
  const { recorder, written } = openRecorder();
  for (let at = 0; at < refusalLimits.singles; at++) await recorder.record(refusal(token('one')));
  expect(written).toHaveLength(30);
  for (let at = 0; at < 5; at++) await recorder.record(refusal(token('one')));
  await recorder.record(refusal(token('two')));
  expect(written).toHaveLength(31);
  await recorder.flush();
  expect(written.at(-1)).toMatchObject({ count: 5, author: token('one'), since: '1970-01-01T00:00:00.000Z' });
  await recorder.record(refusal(token('one')));
  expect(written).toHaveLength(33);
  await recorder[Symbol.asyncDispose]();
});

test('counted refusals of a subject keep their target, for 20 targets in a minute', async () => {
  const { recorder, written } = openRecorder();
  for (let at = 0; at < refusalLimits.singles; at++) await recorder.record(refusal(token('one')));
  for (let at = 0; at < 42; at++)
    await recorder.record(refusal(token('one'), 'permission_denied', `policy-${at % 21}`));
  await recorder.flush();
  const counted = written.slice(refusalLimits.singles).map(({ target, count }) => [target?.id, count]);
  const named = Array.from({ length: 20 }, (_, at) => [`policy-${at}`, 2]);
  expect(counted).toEqual([...named, [undefined, 2]]);
});

test('groups of refusals are bounded: beyond 500 of them only the code is kept', async () => {
  const { recorder, written } = openRecorder();
  for (let at = 0; at < 500; at++) await recorder.record(refusal(unknown, `code-${at}`));
  for (let at = 0; at < 20; at++) await recorder.record({ ...refusal(unknown, 'code-1'), client: 'loopback' });
  await recorder[Symbol.asyncDispose]();
  expect(written).toHaveLength(501);
  expect(written.at(-1)).toMatchObject({ code: 'code-1', count: 20, action: 'read', author: unknown });
});

test('refusals that the database did not store are stored when it answers again', async () => {
  const { recorder, written, state } = openRecorder();
  state.isAway = true;
  await recorder.record(refusal(token('one')));
  await recorder.record(refusal(unknown, 'unauthenticated'));
  await recorder.flush();
  expect([written.length, state.failures]).toEqual([0, 2]);
  expect(state.traces).toEqual(['a'.repeat(32), null]);
  state.isAway = false;
  await recorder[Symbol.asyncDispose]();
  expect(written.map(({ code, count }) => [code, count])).toEqual([
    ['permission_denied', 1],
    ['unauthenticated', 1],
  ]);
});
