import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityLimits } from '#contracts/activity';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createActivityLog } from '../activity/activity-log.ts';
import { says, startWorld, type World, words } from '../testing/start-world.ts';

const token = 'administrator-token';
const stack = new AsyncDisposableStack();
let world: World;
beforeAll(async () => {
  const file = join(stack.use(temporaryFolder()).path, 'admin.token');
  writeFileSync(file, `${token}\n`);
  world = stack.use(await startWorld({ adminTokenFile: file }));
});
afterAll(() => stack.disposeAsync());

const activity = (authorization?: string) =>
  fetch(`${world.gateway.service.adminUrl}/activity`, {
    headers: authorization === undefined ? {} : { authorization },
  });
const records = async (): Promise<Record<string, unknown>[]> =>
  ((await (await activity(`Bearer ${token}`)).json()) as { items: Record<string, unknown>[] }).items;
const recordOf = (requestId: string | null) =>
  until('the decision is recorded', async () => (await records()).find((one) => one['requestId'] === requestId));

test.each([
  ['a denied request', words.deniedInput, 'fine', false, { outcome: 'denied', stage: 'request', rule: 'deny' }],
  ['a masked request', words.maskedInput, 'fine', false, { outcome: 'masked', stage: 'request', rule: 'mask' }],
  ['a denied answer', 'hi', words.deniedOutput, false, { outcome: 'denied', stage: 'response', rule: 'deny' }],
  ['a masked answer', 'hi', words.maskedOutput, false, { outcome: 'masked', stage: 'response', rule: 'mask' }],
  [
    'a stream that a mask stops',
    'hi',
    words.maskedOutput,
    true,
    { outcome: 'denied', stage: 'response', rule: 'mask' },
  ],
  ['a request that passes', 'hi', 'fine', false, { outcome: 'passed', stage: 'none' }],
] as const)(
  'the activity of a gateway names client, revision and rule of %s',
  async (_name, asked, said, stream, expected) => {
    world.upstream.play({ kind: 'answer', content: said });
    const answer = await world.chat({ ...says(asked), stream });
    await answer.text();
    const requestId = answer.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    const record = await recordOf(requestId);
    expect(record).toEqual({
      ...expected,
      requestId,
      time: expect.stringMatching(/Z$/),
      model: 'model',
      client: 'tests',
      policyId: 'policy',
      revision: '1',
    });
  },
);

test('the activity of a gateway names the code of a failed check', async () => {
  world.checks.inject({ kind: 'reset' });
  const answer = await world.chat(says('hi'));
  world.checks.inject({ kind: 'pass' });
  expect(answer.status).toBe(503);
  const record = await recordOf(answer.headers.get('x-request-id'));
  expect(record).toMatchObject({ outcome: 'check_failed', stage: 'request', code: 'network' });
  expect(record).not.toHaveProperty('rule');
});

test('an answer at the limit of a check passes, and an answer with one byte more has its own outcome, which no alert counts', async () => {
  const counted = async (outcome: string): Promise<number> => {
    const text = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith('portcullis_gateway_requests_total'));
    return lines
      .filter((line) => line.includes(`outcome="${outcome}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const around = Buffer.byteLength('{"body":{"choices":[{"message":{"role":"assistant","content":""}}]}}');
  const failed = await counted('check_failed');
  for (const [length, status, count] of [
    [32_768 - around, 200, 0],
    [32_768 - around + 1, 503, 1],
  ] as const) {
    world.upstream.play({ kind: 'answer', content: 'x'.repeat(length) });
    const answer = await world.chat(says('hi'));
    expect(answer.status).toBe(status);
    if (status === 503) {
      const record = await recordOf(answer.headers.get('x-request-id'));
      expect(record).toMatchObject({ outcome: 'check_failed', stage: 'response', code: 'body_too_large' });
    }
    await until('the request is counted', async () => (await counted('answer_too_long')) === count);
  }
  expect(await counted('check_failed')).toBe(failed);
  world.upstream.play({ kind: 'answer', content: 'fine' });
});

test('the decisions of a gateway are counted by alias and outcome for holders of the token', async () => {
  const url = `${world.gateway.service.adminUrl}/decision-counts`;
  const counted = async () => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const { items } = (await answer.json()) as { items: readonly { model: string; denied: number }[] };
    return items.reduce((sum, { model, denied }) => sum + (model === 'model' ? denied : 0), 0);
  };
  const before = await counted();
  await (await world.chat(says(words.deniedInput))).text();
  await until('the decision is counted', async () => (await counted()) === before + 1 || undefined);
  expect((await fetch(url)).status).toBe(401);
});

test('the activity of a gateway contains no text, no key and no id that the client sent', async () => {
  const secret = `${words.deniedInput} my-private-text`;
  const answer = await world.chat(says(secret), { 'x-request-id': 'my-private-id' });
  expect(answer.headers.get('x-request-id')).not.toBe('my-private-id');
  await recordOf(answer.headers.get('x-request-id'));
  const text = JSON.stringify(await records());
  for (const word of ['my-private', words.deniedInput, 'pk-test-client-key']) expect(text).not.toContain(word);
});

test('the log line of a denied request names request, client, rule, stage and revision, and no text', async () => {
  const answer = await world.chat(says(`${words.deniedInput} my-private-text`));
  const requestId = answer.headers.get('x-request-id') ?? '';
  const line = await until('the line is written', async () =>
    world.gateway
      .log()
      .split('\n')
      .find((one) => one.includes(requestId)),
  );
  expect(JSON.parse(line)).toMatchObject({
    requestId,
    client: 'tests',
    outcome: 'denied',
    stage: 'request',
    rule: 'deny',
    policyId: 'policy',
    revision: '1',
  });
  expect(line).not.toContain('my-private');
});

test('a client can choose the request id, as a UUID', async () => {
  const own = '0190a5d0-7b1c-7000-8000-00000000ABCD';
  const answer = await world.chat(says('hi'), { 'x-request-id': own });
  expect(answer.headers.get('x-request-id')).toBe(own);
  await recordOf(own);
  for (const other of [`${own} `, `${own}0`, own.slice(1), own.replaceAll('-', '')]) {
    const { headers } = await world.chat(says('hi'), { 'x-request-id': other });
    expect(headers.get('x-request-id') === own).toBe(other.trim() === own);
  }
});

test('the client of a model does not learn which rule matched', async () => {
  const answer = await world.chat(says(words.deniedInput), { 'x-portcullis-explain': 'rule' });
  expect(answer.headers.get('x-portcullis-rule')).toBeNull();
  expect(await answer.json()).toMatchObject({ error: { type: 'guardrail_blocked', code: 'policy_denied' } });
});

test.each([undefined, 'Bearer wrong', `Basic ${token}`])(
  'the activity is refused with the authorization %s',
  async (sent) => {
    const answer = await activity(sent);
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain('requestId');
  },
);

test('a gateway without an admin token serves no activity', async () => {
  await using closed = await startWorld();
  const answer = await fetch(`${closed.gateway.service.adminUrl}/activity`, { headers: { authorization: 'Bearer ' } });
  expect(answer.status).toBe(404);
});

test('a request to an unguarded model is not recorded as a decision', async () => {
  const before = (await records()).length;
  await (await world.chat({ ...says('hi'), model: 'open' })).text();
  expect((await records()).length).toBe(before);
});

test('an activity log keeps the newest decisions of both kinds, in a bounded number', () => {
  const log = createActivityLog();
  const record = (requestId: string, outcome: 'passed' | 'denied') =>
    ({
      requestId,
      outcome,
      time: new Date().toISOString(),
      model: '',
      stage: 'none',
      policyId: '',
      revision: '',
    }) as const;
  log.add(record('first', 'denied'));
  for (let n = 0; n < 2 * activityLimits.passed + 1; n += 1) log.add(record(`pass-${n}`, 'passed'));
  const ids = log.newest().map(({ requestId }) => requestId);
  expect(ids).toHaveLength(activityLimits.passed + 1);
  expect(ids[0]).toBe(`pass-${2 * activityLimits.passed}`);
  expect(ids.at(-1)).toBe('first');
  for (let n = 0; n < activityLimits.decided; n += 1) log.add(record(`deny-${n}`, 'denied'));
  expect(log.newest()).toHaveLength(activityLimits.decided + activityLimits.passed);
  expect(log.newest().some(({ requestId }) => requestId === 'first')).toBe(false);
});
