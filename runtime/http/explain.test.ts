import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOf, masking, stopList } from '../testing/build-bundle.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

const rules = [
  stopList('words', ['forbidden']),
  masking(stopList('names', ['alice']), '***'),
  masking(stopList('cities', ['paris']), '***'),
];
let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(bundleOf(rules));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const ask = { 'x-portcullis-explain': 'rule' };
const cases = [
  ['a deny', 'forbidden', 'words'],
  ['a mask, as the first rule alone', 'paris and alice', 'names'],
  ['a pass, as no rule', 'hello', undefined],
] as const;

test.each(cases)(
  'a check that requests the deciding rule gets that of %s, with the same body',
  async (_name, text, rule) => {
    const plain = await runtime.check('request', [text]);
    const told = await runtime.check('request', [text], ask);
    expect(told.headers['x-portcullis-rule']).toBe(rule);
    expect(told.text).toBe(plain.text);
  },
);

test.each([undefined, 'all', '', ['rule', 'rule']])(
  'a check with the explain header %j gets no rule id',
  async (value) => {
    const { status, headers } = await runtime.check('request', ['forbidden'], { 'x-portcullis-explain': value });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('x-portcullis-rule');
  },
);

test('a check without the service token gets no rule id', async () => {
  const { status, headers } = await runtime.check('request', ['forbidden'], { ...ask, authorization: 'Bearer wrong' });
  expect(status).toBe(401);
  expect(headers).not.toHaveProperty('x-portcullis-rule');
});
