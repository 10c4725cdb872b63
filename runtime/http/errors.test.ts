import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { type CheckErrorCode, checkErrors } from '#contracts/checks';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundle, detector, masking, policy, providersAt, regex, section, stopList } from '../testing/build-bundle.ts';
import { type HeaderChanges, startRuntime, type TestRuntime } from '../testing/start-runtime.ts';
import { errorBody } from './error-answer.ts';

let provider: ScriptedHttp;
let runtime: TestRuntime;

/** A policy for each way in which a check can fail; its id names the way. */
const masks = [
  masking(regex('one', 'abc'), '#'),
  masking(regex('two', 'bcd'), '*'),
  masking(stopList('long', ['grow']), 'x'.repeat(900)),
];
const policies = [
  policy(section(masks), undefined, 'masks'),
  policy(section([detector('ask')]), undefined, 'asks'),
  policy(section([{ ...detector('hurried'), timeoutMs: 30 }]), undefined, 'hurried'),
];

beforeAll(async () => {
  provider = await startScriptedHttp((response, asked) => {
    if (asked.text.includes('silent')) return;
    answers(
      asked.text.includes('broken') ? '{' : { decision: asked.text.includes('unsure') ? 'unsure' : 'allow' },
      asked.text.includes('down') ? 500 : 200,
    )(response, asked);
  });
  const limits = { ...defaultBundleLimits, maxMatches: 2, maxBodyBytes: 512 };
  runtime = await startRuntime(bundle(policies, { limits, providers: providersAt(provider.url) }));
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const of = (id: string): HeaderChanges => ({ 'x-ap-gr-policy-id': id });
const failures: readonly (readonly [CheckErrorCode, string, HeaderChanges])[] = [
  ['policy_unavailable', 'x', of('other')],
  ['invalid_replacement', 'abcd', of('masks')],
  ['match_limit', 'abc abc abc', of('masks')],
  ['output_too_large', 'grow', of('masks')],
  ['provider_unavailable', 'down', of('asks')],
  ['provider_invalid_answer', 'broken', of('asks')],
  ['verdict_undefined', 'unsure', of('asks')],
  ['rule_timeout', 'silent', of('hurried')],
];

describe('a check that fails', () => {
  verifies(
    ['guardrail:errors:other-check-errors', 'guardrail:fail-closed:error'],
    'a check that fails is 503 with its code in the error body, on both stages',
    async () => {
      for (const stage of ['request', 'response'] as const) {
        for (const [code, text, headers] of failures) {
          const { status, json } = await runtime.check(stage, [text], headers);
          expect({ status, code: json.code, keys: Object.keys(json) }).toEqual({
            status: 503,
            code,
            keys: ['code', 'message', 'traceId'],
          });
        }
      }
    },
  );

  verifies(
    ['guardrail:errors:503-not-always-temporary', 'guardrail:stateless:no-retry-after'],
    'a check that fails because of rules or limits fails again when repeated',
    async () => {
      for (const [code, text, headers] of failures.slice(0, 4)) {
        for (let attempt = 0; attempt < 3; attempt += 1) {
          const answer = await runtime.check('request', [text], headers);
          expect({ status: answer.status, code: answer.json.code, retry: answer.headers['retry-after'] }).toEqual({
            status: 503,
            code,
            retry: undefined,
          });
        }
      }
      expect((await runtime.check('request', ['fine'], of('asks'))).status).toBe(200);
    },
  );

  test('a failed check is counted by policy, rule and code, and logged at debug level only', async () => {
    await runtime.check('request', ['down'], of('asks'));
    const logged = runtime.log().split('\n');
    expect(logged.filter((line) => line.includes('check_failed')).every((line) => /"level":"debug"/.test(line))).toBe(
      true,
    );
    expect(runtime.log()).toMatch(
      /"policy":"asks","code":"provider_unavailable","rule":"ask","traceId":"[0-9a-f]{32}","event":"check_failed"/,
    );
    expect(
      await runtime.metric('portcullis_runtime_checks_total', { policy: 'asks', decision: 'failed', stage: 'request' }),
    ).toBeGreaterThan(0);
    expect(
      await runtime.metric('portcullis_runtime_errors_total', { code: 'provider_unavailable', stage: 'request' }),
    ).toBeGreaterThan(0);
    expect(
      await runtime.metric('portcullis_runtime_rule_errors_total', {
        rule: 'ask',
        mode: 'enforce',
        code: 'provider_unavailable',
      }),
    ).toBeGreaterThan(0);
  });
});

describe('an error body', () => {
  test('an error body contains the meaning of its code and at most the id of a rule', () => {
    for (const code of Object.keys(checkErrors) as CheckErrorCode[]) {
      expect(errorBody(code, 'a')).toEqual({ code, message: checkErrors[code].meaning, traceId: 'a' });
      expect(errorBody(code, 'a', 'words').message).toBe(`${checkErrors[code].meaning} Rule: words.`);
    }
  });
});

test('the codes and their statuses are those of the contract', () => {
  expect(Object.entries(checkErrors).map(([code, { status }]) => `${status} ${code}`)).toEqual([
    '400 invalid_json',
    '401 unauthenticated',
    '403 untrusted_context',
    '404 not_found',
    '405 method_not_allowed',
    '413 body_too_large',
    '415 unsupported_media',
    '422 invalid_payload',
    '422 message_limit',
    '503 policy_unavailable',
    '503 overloaded',
    '503 stage_timeout',
    '503 rule_timeout',
    '503 provider_unavailable',
    '503 provider_invalid_answer',
    '503 verdict_undefined',
    '503 verdict_refused',
    '503 invalid_replacement',
    '503 match_limit',
    '503 output_too_large',
    '503 engine_failure',
    '503 internal',
  ]);
});
