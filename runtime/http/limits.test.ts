import { describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, detector, masking, providersAt, regex, stopList } from '../testing/build-bundle.ts';
import { allow } from '../testing/provider-answers.ts';
import { checkText, type RuntimeResponse, startRuntime } from '../testing/start-runtime.ts';

const stages = ['request', 'response'] as const;
const outcome = ({ status, json }: RuntimeResponse): object => ({ status, code: json.code ?? json.action?.['reason'] });
const pass = { status: 200, code: 'policy_pass' };

/** A check body of exactly this many bytes. */
function bodyOf(stage: (typeof stages)[number], bytes: number, letter = 'a'): string {
  const frame = Buffer.byteLength(checkText(stage, ['']));
  const length = Math.floor((bytes - frame) / Buffer.byteLength(letter));
  const padding = bytes - frame - length * Buffer.byteLength(letter);
  return checkText(stage, [letter.repeat(length) + ' '.repeat(padding)]);
}

describe('maxBodyBytes', () => {
  verifies(
    [
      'guardrail:limits:max-body-bytes-edge',
      'guardrail:errors:body-too-large',
      'guardrail:errors:body-too-large-no-truncation',
      'guardrail:limits:environment-values',
      'guardrail:limits:wrapping-counts',
    ],
    'maxBodyBytes counts the whole body, including the JSON around the texts',
    async () => {
      for (const maxBodyBytes of [256, 1_000, 32_768, 131_072]) {
        const limits = { ...defaultBundleLimits, maxBodyBytes };
        await using runtime = await startRuntime(bundleOf([stopList('words', ['forbidden'])], [], { limits }));
        for (const stage of stages) {
          expect(Buffer.byteLength(bodyOf(stage, maxBodyBytes))).toBe(maxBodyBytes);
          expect(outcome(await runtime.post(`/${stage}`, bodyOf(stage, maxBodyBytes)))).toEqual(pass);
          const over = await runtime.post(`/${stage}`, bodyOf(stage, maxBodyBytes + 1));
          expect(outcome(over)).toEqual({ status: 413, code: 'body_too_large' });
          const spaces = `${' '.repeat(maxBodyBytes)}${checkText(stage, ['x'])}`;
          expect(outcome(await runtime.post(`/${stage}`, spaces))).toEqual({ status: 413, code: 'body_too_large' });
        }
      }
    },
  );

  verifies(
    ['guardrail:limits:escaping-counts', 'guardrail:limits:multibyte-counts'],
    'maxBodyBytes counts bytes as sent, including escapes and multibyte characters',
    async () => {
      const limits = { ...defaultBundleLimits, maxBodyBytes: 1_024 };
      await using runtime = await startRuntime(bundleOf([stopList('words', ['forbidden'])], [], { limits }));
      for (const stage of stages) {
        const frame = Buffer.byteLength(checkText(stage, ['']));
        const escaped = checkText(stage, ['']).replace(
          '"content":""',
          `"content":"${'\\u0041'.repeat(Math.floor((1_024 - frame) / 6))}"`,
        );
        expect(outcome(await runtime.post(`/${stage}`, escaped))).toEqual(pass);
        expect(outcome(await runtime.post(`/${stage}`, escaped.replace('\\u0041', '\\u0041'.repeat(2))))).toEqual({
          status: 413,
          code: 'body_too_large',
        });
        expect(outcome(await runtime.post(`/${stage}`, bodyOf(stage, 1_024, 'ж')))).toEqual(pass);
        expect(outcome(await runtime.post(`/${stage}`, `${bodyOf(stage, 1_024, 'ж')} `))).toEqual({
          status: 413,
          code: 'body_too_large',
        });
      }
    },
  );
});

describe('maxMessages', () => {
  verifies(
    [
      'guardrail:limits:max-messages-edge-request',
      'guardrail:limits:max-messages-edge-response',
      'guardrail:errors:message-limit',
      'guardrail:errors:invalid-payload',
      'guardrail:limits:environment-values',
    ],
    'a check may have maxMessages messages or answer variants; one more is message_limit',
    async () => {
      for (const maxMessages of [1, 32]) {
        const limits = { ...defaultBundleLimits, maxMessages };
        await using runtime = await startRuntime(bundleOf([stopList('words', ['forbidden'])], [], { limits }));
        const contents = (count: number): string[] => Array.from({ length: count }, () => 'hello');
        for (const stage of stages) {
          expect(outcome(await runtime.check(stage, contents(maxMessages)))).toEqual(pass);
          expect(outcome(await runtime.check(stage, contents(maxMessages + 1)))).toEqual({
            status: 422,
            code: 'message_limit',
          });
          expect(outcome(await runtime.check(stage, []))).toEqual({ status: 422, code: 'message_limit' });
          const wrong = checkText(stage, contents(maxMessages + 1)).replace('"role"', '"rol"');
          expect(outcome(await runtime.post(`/${stage}`, wrong))).toEqual({ status: 422, code: 'invalid_payload' });
        }
      }
    },
  );
});

describe('maxMatches', () => {
  verifies(
    ['guardrail:limits:max-matches-edge', 'guardrail:limits:environment-values'],
    'a check may have maxMatches replacements over all rules and messages; one more is match_limit',
    async () => {
      for (const maxMatches of [1, 4, 256]) {
        const limits = { ...defaultBundleLimits, maxMatches };
        const rules = [masking(stopList('names', ['x']), ''), masking(regex('digits', '[0-9]'), '#')];
        await using runtime = await startRuntime(bundleOf(rules, [], { limits }));
        for (const stage of stages) {
          const full = ['x'.repeat(Math.ceil(maxMatches / 2)), '7'.repeat(Math.floor(maxMatches / 2))];
          expect(outcome(await runtime.check(stage, full))).toEqual({ status: 200, code: 'content_redacted' });
          for (const over of [
            [...full, 'x'],
            [...full, '7'],
            [`${full[0]}x`, full[1] ?? ''],
          ]) {
            expect(outcome(await runtime.check(stage, over))).toEqual({ status: 503, code: 'match_limit' });
          }
        }
      }
    },
  );

  test('matches of rules that deny do not count towards maxMatches', async () => {
    const limits = { ...defaultBundleLimits, maxMatches: 1 };
    await using runtime = await startRuntime(bundleOf([stopList('words', ['x'])], [], { limits }));
    expect(outcome(await runtime.check('request', ['xxxx']))).toEqual({ status: 200, code: 'policy_denied' });
  });
});

describe('a mask over maxBodyBytes', () => {
  verifies(
    ['guardrail:errors:output-too-large'],
    'a mask over maxBodyBytes is output_too_large, one byte less is a mask',
    async () => {
      const limits = { ...defaultBundleLimits, maxBodyBytes: 512 };
      await using runtime = await startRuntime(
        bundleOf([masking(stopList('names', ['x']), 'é'.repeat(100))], [], { limits }),
      );
      for (const stage of stages) {
        const inner =
          stage === 'request'
            ? { messages: [{ role: 'user', content: '' }] }
            : { choices: [{ message: { role: 'assistant', content: '' } }] };
        const room = 512 - Buffer.byteLength(JSON.stringify(inner)) - 200;
        const fits = await runtime.check(stage, [`x${'a'.repeat(room)}`]);
        expect(outcome(fits)).toEqual({ status: 200, code: 'content_redacted' });
        expect(Buffer.byteLength(JSON.stringify(fits.json.action?.['body']))).toBe(512);
        expect(outcome(await runtime.check(stage, [`x${'a'.repeat(room + 1)}`]))).toEqual({
          status: 503,
          code: 'output_too_large',
        });
      }
    },
  );
});

describe('maxConcurrency', () => {
  verifies(
    [
      'guardrail:limits:max-concurrency-edge',
      'guardrail:limits:environment-values',
      'guardrail:errors:overloaded',
      'guardrail:concurrency:no-queue',
      'guardrail:stateless:no-retry-after',
    ],
    'a check over maxConcurrency is refused immediately, and the next one is accepted when one has ended',
    async () => {
      const held: (() => void)[] = [];
      await using provider = await startScriptedHttp((response, asked) => held.push(() => allow(response, asked)));
      const limits = { ...defaultBundleLimits, maxConcurrency: 3 };
      const change = { limits, providers: providersAt(provider.url) };
      await using runtime = await startRuntime(bundleOf([detector('ask')], [], change));
      const running = [
        runtime.check('request', ['1']),
        runtime.check('response', ['2']),
        runtime.check('request', ['3']),
      ];
      await until('three checks hold the slots', () => held.length === 3);
      for (const stage of stages) {
        const refused = await runtime.check(stage, ['4']);
        expect(outcome(refused)).toEqual({ status: 503, code: 'overloaded' });
        expect(Object.keys(refused.json)).toEqual(['code', 'message', 'traceId']);
        expect(refused.headers['retry-after']).toBeUndefined();
      }
      expect(provider.seen).toHaveLength(3);
      held.shift()?.();
      await Promise.race(running);
      const next = runtime.check('request', ['5']);
      await until('the next check has a slot', () => provider.seen.length === 4);
      for (const release of held.splice(0)) release();
      for (const answer of await Promise.all([...running, next])) expect(outcome(answer)).toEqual(pass);
      expect(await runtime.metric('portcullis_runtime_overloads_total', { part: 'checks' })).toBe(2);
      expect(await runtime.metric('portcullis_runtime_checks_in_flight')).toBe(0);
    },
  );
});
