import { describe, expect, test } from 'vitest';
import { denyText } from '#contracts/checks';
import { verifies } from '../../e2e/support/verifies.ts';
import { readResult } from './read-result.ts';
import { said } from './testing/check-fixture.ts';
import { denyResult, passResult, requestMask, responseMask } from './testing/scripted-runtime.ts';

const sent = [said('write to a@b.example'), { role: 'system', content: 'be kind' }];
const request = (answer: unknown) => readResult(bytes(answer), 'request', 'buffered', sent);
const response = (answer: unknown) => readResult(bytes(answer), 'response', 'buffered', sent);
const bytes = (answer: unknown) => Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
const cleaned = [said('write to [email]'), { role: 'system', content: 'be kind' }];
const invalid = { kind: 'failed', code: 'invalid_answer' };

describe('results of a check', () => {
  verifies(
    ['client:result:handles-pass'],
    'a pass is accepted as a result of the request and the response stage',
    () => {
      expect(request(passResult)).toEqual({ kind: 'pass' });
      expect(response(passResult)).toEqual({ kind: 'pass' });
    },
  );

  verifies(
    ['client:result:handles-deny', 'guardrail:deny:status-alone-insufficient'],
    'a deny has status 200 and is recognised by its action',
    () => {
      expect(request(denyResult)).toEqual({ kind: 'deny' });
      expect(response(denyResult)).toEqual({ kind: 'deny' });
    },
  );

  verifies(['client:result:handles-mask'], 'a valid mask returns the masked contents by position', () => {
    expect(request(requestMask(...cleaned))).toEqual({ kind: 'mask', contents: ['write to [email]', 'be kind'] });
    expect(response(responseMask(...cleaned))).toEqual({ kind: 'mask', contents: ['write to [email]', 'be kind'] });
  });

  verifies(
    ['client:result:validates-schema'],
    'a result of the other stage, or with an additional member, is a technical error',
    () => {
      expect(request(responseMask(...cleaned))).toMatchObject(invalid);
      expect(response(requestMask(...cleaned))).toMatchObject(invalid);
      const wrong: readonly unknown[] = [
        { ...passResult, traceId: '1' },
        { action: { reason: 'policy_pass', score: 1 } },
        { action: { ...denyResult.action, status_code: 200 } },
        { action: { ...denyResult.action, body: 'no' } },
        { action: { ...denyResult.action, extra: null } },
        { action: { body: { messages: [{ ...said('a'), name: 'x' }, said('b')] }, reason: 'content_redacted' } },
        { action: { body: { messages: cleaned, choices: [] }, reason: 'content_redacted' } },
        { action: { body: { messages: [] }, reason: 'content_redacted' } },
        { action: { body: { messages: [{ role: '', content: 'a' }] }, reason: 'content_redacted' } },
        '{"action":{"reason":"policy_pass"},"action":{"reason":"policy_pass"}}',
        '{"action":{"reason":"policy_denied","reason":"policy_pass"}}',
        '\ufeff{"action":{"reason":"policy_pass"}}',
        '{"action":{"reason":"policy_pass"}} {}',
      ];
      for (const answer of wrong) expect(request(answer), JSON.stringify(answer)).toMatchObject(invalid);
      const latin = Buffer.from(JSON.stringify(requestMask(said('é'), cleaned[1]!)), 'latin1');
      expect(readResult(latin, 'request', 'buffered', sent)).toMatchObject(invalid);
    },
  );

  verifies(['client:result:unknown-action'], 'a result with an unknown action is a technical error', () => {
    for (const action of [
      { reason: 'policy_maybe' },
      { reason: 'Pass' },
      { reason: null },
      'policy_pass',
      [passResult.action],
      { type: 'Pass', reason: 'pass' },
    ]) {
      expect(request({ action }), JSON.stringify(action)).toMatchObject(invalid);
    }
    expect(request({ actions: passResult.action })).toMatchObject(invalid);
    for (const answer of ['null', '[]', '"policy_pass"', '{}', '', ' ']) expect(request(answer)).toMatchObject(invalid);
  });

  verifies(['client:result:incomplete-action'], 'an action that lacks a required member is a technical error', () => {
    const whole = [denyResult, requestMask(...cleaned), passResult];
    for (const { action } of whole) {
      for (const name of Object.keys(action)) {
        const lacking = Object.fromEntries(Object.entries(action).filter(([key]) => key !== name));
        expect(request({ action: lacking }), `without ${name}`).toMatchObject(invalid);
      }
    }
    expect(request({ action: { body: {}, reason: 'content_redacted' } })).toMatchObject(invalid);
    const contentless = { action: { body: { messages: [{ role: 'user' }, said('b')] }, reason: 'content_redacted' } };
    expect(request(contentless)).toMatchObject(invalid);
    expect(request({ action: { body: denyText, reason: 'policy_denied' } })).toMatchObject(invalid);
  });

  verifies(
    ['guardrail:mask:client-rejects-difference'],
    'a mask of another count, order or role is a technical error',
    () => {
      const [first, system] = cleaned;
      const differences = [[first!], [...cleaned, said('c')], [system!, first!], [first!, said('be kind')]];
      for (const messages of differences) {
        expect(request(requestMask(...messages))).toMatchObject({ kind: 'failed', code: 'mask_mismatch' });
        expect(response(responseMask(...messages))).toMatchObject({ kind: 'failed', code: 'mask_mismatch' });
      }
    },
  );

  test('a mask in mode sse-reject is a technical error, except for the request stage', () => {
    expect(readResult(bytes(responseMask(...cleaned)), 'response', 'sse-reject', sent)).toMatchObject(invalid);
    expect(readResult(bytes(requestMask(...cleaned)), 'request', 'sse-reject', sent)).toMatchObject({ kind: 'mask' });
  });
});
