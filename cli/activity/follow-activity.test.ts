import { expect, test } from 'vitest';
import type { CollectedActivity, ReplicaDecision } from '#contracts/activity';
import { CliError } from '../errors/cli-error.ts';
import { followActivity } from './follow-activity.ts';

function decision(replica: string, requestId: string): ReplicaDecision {
  const rest = { model: 'm', outcome: 'denied', stage: 'request', policyId: 'p', revision: '1' } as const;
  return { replica, requestId, time: '2026-01-01T00:00:00.000Z', ...rest };
}

const answered = (...items: readonly ReplicaDecision[]): CollectedActivity => ({ items: [...items], missing: [] });

/** Follows the activity through these reads; then the user ends the command. */
async function followed(first: CollectedActivity, reads: readonly (CollectedActivity | Error)[]) {
  const printed: string[][] = [];
  const warned: string[] = [];
  const left = [...reads];
  await followActivity({
    first,
    async read() {
      const next = left.shift();
      if (next === undefined || next instanceof Error) throw next;
      return next;
    },
    pause: async () => left.length > 0,
    print: (items) => printed.push(items.map(({ requestId }) => requestId)),
    warn: (sentence) => warned.push(sentence),
  });
  return { printed, warned };
}

const [a, b, c] = [decision('gateway-1', 'a'), decision('gateway-2', 'b'), decision('gateway-2', 'c')];
const silent = { replica: 'gateway-2', reason: 'does not answer' };

test('activity --follow prints each decision of a replica that answers again only once', async () => {
  const gap = { items: [a], missing: [silent] };
  const { printed, warned } = await followed(answered(a, b), [gap, gap, answered(c, a, b), answered(c, a, b)]);
  expect(printed).toEqual([['c']]);
  expect(warned).toEqual(['decisions are missing: gateway-2 does not answer.']);
});

test('activity --follow reports once that no gateway answers, and continues when a gateway answers again', async () => {
  const away = new CliError('not_running', 'No gateway shows its decisions.');
  const { printed, warned } = await followed(answered(a), [away, away, answered(b, a), away]);
  expect(printed).toEqual([['b']]);
  const sentence = 'No gateway shows its decisions. The decisions are read again.';
  expect(warned).toEqual([sentence, sentence]);
});

test('activity --follow exits on a failure that is not retryable', async () => {
  const refused = new CliError('unauthenticated', 'The token is refused.');
  await expect(followed(answered(), [refused, answered(a)])).rejects.toBe(refused);
});
