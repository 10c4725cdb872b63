import { expect, test } from 'vitest';
import { checkBytes } from '#checks/batch-messages';
import { failedCheck } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { judgeLongText } from './judge-long-text.ts';

const target: CheckTarget = {
  addresses: ['http://127.0.0.1:1'],
  policyId: 'policy',
  policyRevision: '1',
  digest: 'a'.repeat(64),
  contentProfile: 'profile',
  maxBodyBytes: 8_192,
  maxMessages: 8,
  deadlineMs: 1_000,
};
const denied = 'never say this';
const secret = 'card 4111 1111';

/** Checks by a policy that denies one phrase and masks another phrase, both of which contain spaces. */
function policy() {
  const seen: string[] = [];
  const checks: Pick<CheckClient, 'check'> = {
    async check(_, stage, messages) {
      expect(stage).toBe('request');
      const texts = messages.map(({ content }) => content);
      for (const content of texts) expect(checkBytes({ role: 'user', content })).toBeLessThanOrEqual(8_192);
      seen.push(...texts);
      if (texts.some((text) => text.includes(denied))) return { kind: 'deny' };
      const contents = texts.map((text) => text.replaceAll(secret, '***'));
      return contents.some((text, at) => text !== texts[at]) ? { kind: 'mask', contents } : { kind: 'pass' };
    },
  };
  return { checks, seen };
}

const judge = (content: string, checks = policy().checks) =>
  judgeLongText(
    checks,
    target,
    { role: 'assistant', content, place: { kind: 'absent' } },
    new AbortController().signal,
  );
const filler = 'ab cd '.repeat(4_000);
const around = (at: number, phrase: string) => `${filler.slice(0, at)} ${phrase} ${filler.slice(at)}`;

test('a phrase in a long text is found and masked wherever the text is split', async () => {
  const { checks, seen } = policy();
  expect(await judge(filler, checks)).toEqual({ kind: 'pass', content: filler });
  const [piece = ''] = seen;
  expect(seen.length).toBeGreaterThan(2);
  // The first piece ends here; the next piece begins at least the overlap earlier.
  const end = piece.length;
  for (let at = end - 1_100; at <= end + 40; at += 5) {
    expect(await judge(around(at, denied))).toMatchObject({ kind: 'stop', error: { code: 'policy_denied' } });
    expect(await judge(around(at, secret))).toEqual({ kind: 'pass', content: around(at, '***') });
  }
});

test('a text without white space is refused with its size as one text when it is one byte over a check', async () => {
  const room = target.maxBodyBytes - checkBytes({ role: 'user', content: '' });
  expect(await judge('x'.repeat(room))).toMatchObject({ kind: 'pass' });
  const wide = checkBytes({ role: 'assistant', content: 'x'.repeat(room + 1) });
  expect(await judge('x'.repeat(room + 1))).toEqual({
    kind: 'stop',
    error: {
      kind: 'too_long',
      code: 'body_too_large',
      excess: { count: wide, limit: target.maxBodyBytes },
      isOneText: true,
    },
  });
});

test('a piece without a verdict refuses the complete text', async () => {
  let calls = 0;
  const check: CheckClient['check'] = async () => {
    calls += 1;
    return calls === 2 ? failedCheck('timeout') : { kind: 'pass' };
  };
  expect(await judge(filler, { check })).toEqual({ kind: 'stop', error: { kind: 'check_failed', code: 'timeout' } });
});
