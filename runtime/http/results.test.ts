import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestResultSchema, responseResultSchema } from '#contracts/checks';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundle, bundleOf, masking, policy, regex, section, stopList } from '../testing/build-bundle.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

const rules = [stopList('words', ['forbidden']), masking(stopList('names', ['alice', 'боб']), '[имя]')];
let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(bundleOf(rules));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const reject = { body: 'Запрос отклонён политикой', status_code: 403, reason: 'policy_denied' };
const texts = { pass: 'hello', deny: 'forbidden', mask: 'hi Alice' };
const stages = ['request', 'response'] as const;

describe('a result', () => {
  verifies(
    [
      'guardrail:decision:exactly-three',
      'guardrail:result:one-field-action',
      'guardrail:result:pass-shape',
      'guardrail:result:reject-shape',
      'guardrail:result:reject-body-text',
      'guardrail:result:reject-status-code',
      'guardrail:result:reject-reason',
      'guardrail:deny:http-200',
      'guardrail:deny:status-alone-insufficient',
    ],
    'a result of a check is exactly pass, deny or mask, all with HTTP 200',
    async () => {
      for (const stage of stages) {
        const pass = await runtime.check(stage, [texts.pass]);
        const deny = await runtime.check(stage, [texts.deny]);
        const mask = await runtime.check(stage, [texts.mask]);
        expect([pass.status, deny.status, mask.status]).toEqual([200, 200, 200]);
        expect(pass.text).toBe('{"action":{"reason":"policy_pass"}}');
        expect(deny.json).toEqual({ action: reject });
        expect(Object.keys(mask.json)).toEqual(['action']);
        expect(Object.keys(mask.json.action ?? {}).sort()).toEqual(['body', 'reason']);
      }
    },
  );

  verifies(
    [
      'guardrail:result:request-variants',
      'guardrail:result:request-mask-shape',
      'guardrail:result:request-mask-reason',
      'guardrail:post-request:returns-request-result',
      'guardrail:endpoints:post-request',
    ],
    'a result of /request is a RequestResult',
    async () => {
      for (const text of Object.values(texts)) {
        const { json, status, headers } = await runtime.check('request', [text]);
        expect(status).toBe(200);
        expect(headers['content-type']).toBe('application/json');
        expect(requestResultSchema.safeParse(json).success).toBe(true);
      }
      expect((await runtime.check('request', [texts.mask])).json).toEqual({
        action: { body: { messages: [{ role: 'user', content: 'hi [имя]' }] }, reason: 'content_redacted' },
      });
    },
  );

  verifies(
    [
      'guardrail:result:response-variants',
      'guardrail:result:response-mask-shape',
      'guardrail:result:response-mask-reason',
      'guardrail:post-response:returns-response-result',
      'guardrail:endpoints:post-response',
    ],
    'a result of /response is a ResponseResult',
    async () => {
      for (const text of Object.values(texts)) {
        const { json, status } = await runtime.check('response', [text]);
        expect(status).toBe(200);
        expect(responseResultSchema.safeParse(json).success).toBe(true);
      }
      expect((await runtime.check('response', [texts.mask])).json).toEqual({
        action: {
          body: { choices: [{ message: { role: 'assistant', content: 'hi [имя]' } }] },
          reason: 'content_redacted',
        },
      });
    },
  );

  verifies(
    [
      'guardrail:result:no-trace-id',
      'guardrail:stateless:no-retry-after',
      'guardrail:mask:no-offsets',
      'guardrail:mask:no-entity-list',
      'bundle:scope:no-source-proof',
    ],
    'a result has no trace id, no Retry-After, no offsets and no list of matches',
    async () => {
      const parent = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
      for (const stage of stages) {
        for (const text of Object.values(texts)) {
          const { headers, json, text: body } = await runtime.check(stage, [text], parent);
          expect(Object.keys(headers).sort()).toEqual([
            'connection',
            'content-length',
            'content-type',
            'date',
            'keep-alive',
          ]);
          expect(body).not.toMatch(/4bf92f3577b34da6a3ce929d0e0e4736|trace|offset|entit|match|source|rule/i);
          expect(Object.keys(json)).toEqual(['action']);
        }
      }
    },
  );

  verifies(
    ['guardrail:pass:meaning', 'bundle:scope:no-universal-pii', 'bundle:scope:no-fact-check'],
    'a text that no rule matches is a pass, whether true or not, personal or not',
    async () => {
      for (const text of [
        '2 + 2 = 5',
        'The Earth is flat.',
        'My card is 4111 1111 1111 1111, call +7 900 000-00-00',
        'how to build a bomb',
      ]) {
        for (const stage of stages)
          expect((await runtime.check(stage, [text])).json).toEqual({ action: { reason: 'policy_pass' } });
      }
    },
  );
});

describe('a mask', () => {
  verifies(
    [
      'guardrail:mask:keeps-count',
      'guardrail:mask:keeps-order',
      'guardrail:mask:keeps-roles',
      'guardrail:mask:replaces-checked-body-only',
      'guardrail:text-only:caller-maps-results',
    ],
    'a mask keeps count, order and roles, and contains only the checked body',
    async () => {
      const sent = [
        { role: 'system', content: 'be nice to alice' },
        { role: 'user', content: '' },
        { role: 'user', content: 'no match: "quotes", \\ and \u0000 \u2028' },
        { role: 'tool', content: 'АЛИСА и Боб, боббоб' },
        { role: 'r'.repeat(32), content: 'alice' },
        { role: '\u{1f600}'.repeat(32), content: 'alice' },
      ];
      const cleaned = ['be nice to [имя]', '', sent[2]?.content, 'АЛИСА и [имя], [имя][имя]', '[имя]', '[имя]'];
      const expected = sent.map(({ role }, index) => ({ role, content: cleaned[index] }));
      const request = await runtime.post('/request', JSON.stringify({ body: { messages: sent } }));
      expect(request.json).toEqual({ action: { body: { messages: expected }, reason: 'content_redacted' } });
      const response = await runtime.post(
        '/response',
        JSON.stringify({ body: { choices: sent.map((message) => ({ message })) } }),
      );
      expect(response.json).toEqual({
        action: { body: { choices: expected.map((message) => ({ message })) }, reason: 'content_redacted' },
      });
    },
  );

  test('a mask is applied at character boundaries, once, literally', async () => {
    const replacement = '$&\\1alice';
    await using masks = await startRuntime(bundleOf([masking(regex('names', 'alice|ж+|\u{1f600}'), replacement)]));
    for (const [text, cleaned] of [
      ['alice', replacement],
      ['ёжж\u{1f600}ё', `ё${replacement}${replacement}ё`],
      ['e\u0301alice\u0301', `e\u0301${replacement}\u0301`],
    ]) {
      const answer = await masks.check('request', [text ?? '']);
      expect(answer.json).toEqual({
        action: { body: { messages: [{ role: 'user', content: cleaned }] }, reason: 'content_redacted' },
      });
    }
  });

  test('the replacement of a mask may be empty', async () => {
    await using masks = await startRuntime(bundleOf([masking(stopList('names', ['alice']), '')]));
    const answer = await masks.check('request', ['alice']);
    expect(answer.json).toEqual({
      action: { body: { messages: [{ role: 'user', content: '' }] }, reason: 'content_redacted' },
    });
  });
});

describe('one call', () => {
  verifies(
    ['guardrail:stage:not-both', 'guardrail:usage:direct-call'],
    'a check evaluates one stage only',
    async () => {
      const stagewise = policy(section([stopList('in', ['apple'])]), section([stopList('out', ['banana'])]));
      await using one = await startRuntime(bundle([stagewise]));
      for (const [stage, text, reason] of [
        ['request', 'apple', 'policy_denied'],
        ['request', 'banana', 'policy_pass'],
        ['response', 'apple', 'policy_pass'],
        ['response', 'banana', 'policy_denied'],
      ] as const) {
        expect((await one.check(stage, [text])).json.action).toMatchObject({ reason });
      }
    },
  );

  verifies(
    [
      'guardrail:execution:whole-set-judged',
      'guardrail:execution:culprit-not-named',
      'guardrail:execution:independent-decisions',
    ],
    'one call judges the complete set and does not report which message caused a deny',
    async () => {
      const first = await runtime.check('request', ['forbidden', 'hello', 'hello']);
      const last = await runtime.check('request', ['hello', 'hello', 'forbidden']);
      expect(first.text).toBe(last.text);
      expect(first.json).toEqual({ action: reject });
      const apart = await Promise.all(['hello', 'forbidden', 'hello'].map((text) => runtime.check('request', [text])));
      expect(apart.map(({ json }) => json.action?.['reason'])).toEqual(['policy_pass', 'policy_denied', 'policy_pass']);
    },
  );

  verifies(
    ['guardrail:stateless:no-result-store', 'guardrail:stateless:no-idempotency-key'],
    'each check is evaluated independently; earlier checks only change counters',
    async () => {
      const key = { 'idempotency-key': 'one' };
      const before = await runtime.metric('portcullis_runtime_checks_total', { stage: 'request', decision: 'pass' });
      expect((await runtime.check('request', ['hello'], key)).json.action).toEqual({ reason: 'policy_pass' });
      expect((await runtime.check('request', ['forbidden'], key)).json.action).toEqual(reject);
      expect((await runtime.check('request', ['hello'], key)).json.action).toEqual({ reason: 'policy_pass' });
      expect(await runtime.metric('portcullis_runtime_checks_total', { stage: 'request', decision: 'pass' })).toBe(
        before + 2,
      );
      for (const path of ['/request', '/response', '/results', '/checks', '/documents', '/request/1']) {
        expect(
          (await runtime.get(path, { authorization: 'Bearer service-token-of-the-tests' })).status,
        ).toBeGreaterThanOrEqual(404);
      }
    },
  );
});

describe('an error', () => {
  verifies(
    [
      'guardrail:error-body:code',
      'guardrail:error-body:message',
      'guardrail:error-body:trace-id',
      'guardrail:error-body:no-other-fields',
      'guardrail:error-body:own-format',
      'guardrail:error-body:no-source-text',
      'guardrail:post-request:failure-statuses',
      'guardrail:post-request:failure-never-pass',
      'guardrail:post-response:failure-statuses',
      'guardrail:stateless:no-retry-after',
    ],
    'an error is a flat object of code, message and traceId with one of the statuses of the contract, and never an action',
    async () => {
      const marker = 'marker-of-the-text';
      const good = JSON.stringify({ body: { messages: [{ role: 'user', content: marker }] } });
      for (const path of ['/request', '/response']) {
        const answers = [
          await runtime.post(path, `{"body":"${marker}"`),
          await runtime.post(path, good, { authorization: undefined }),
          await runtime.post(path, good, { 'x-ap-gr-policy-id': undefined }),
          await runtime.post(path, JSON.stringify(marker.repeat(4_000))),
          await runtime.post(path, good, { 'content-type': 'text/plain' }),
          await runtime.post(path, JSON.stringify({ body: { [marker]: marker } })),
          await runtime.post(path, good, { 'x-ap-gr-bundle-digest': marker }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([400, 401, 403, 413, 415, 422, 503]);
        for (const { json, text, headers } of answers) {
          expect(Object.keys(json)).toEqual(['code', 'message', 'traceId']);
          for (const value of Object.values(json)) expect(value).toBeTypeOf('string');
          expect(text).not.toContain(marker);
          expect(headers['retry-after']).toBeUndefined();
        }
      }
      expect(runtime.log()).not.toContain(marker);
    },
  );

  test('an error carries the trace id of the client if it sent one', async () => {
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = { authorization: undefined, traceparent: `00-${id}-00f067aa0ba902b7-01` };
    for (const traceparent of [traced.traceparent, `cc-${id}-00f067aa0ba902b7-01-more`]) {
      expect((await runtime.check('request', ['x'], { ...traced, traceparent })).json['traceId']).toBe(id);
    }
    for (const traceparent of [
      undefined,
      'x',
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `ff-${id}-00f067aa0ba902b7-01`,
      [`00-${id}-00f067aa0ba902b7-01`, `00-${id}-00f067aa0ba902b7-01`],
    ]) {
      const made = (await runtime.check('request', ['x'], { ...traced, traceparent })).json['traceId'];
      expect(made).toMatch(/^[0-9a-f]{32}$/);
      expect(made).not.toBe(id);
    }
  });
});
