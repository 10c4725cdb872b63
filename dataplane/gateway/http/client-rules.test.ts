import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Replaces the keys of the gateway and waits until they are in use. */
async function rotate(...lines: readonly string[]): Promise<void> {
  await writeFile(
    world.gateway.keysFile,
    `${clientKey} tests\nmark-${lines.length}-${Date.now()}\n${lines.join('\n')}\n`,
  );
  const mark = lines[0]?.split(' ')[0] ?? clientKey;
  await until('the keys are in use', async () => (await ask(mark, 'model', 'GET')).status !== 401);
}

async function ask(key: string, model = 'model', method: 'GET' | 'POST' = 'POST', more: object = {}) {
  const headers = { authorization: `Bearer ${key}` };
  if (method === 'GET') return fetch(`${world.gateway.service.url}/v1/models`, { headers });
  return world.post('/v1/chat/completions', { ...says('hi'), model, ...more }, headers);
}

const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error?: { code: string } }).error?.code,
];
const metrics = async (name: string) =>
  (await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text())
    .split('\n')
    .filter((line) => line.startsWith(name));

test('a client key with aliases can call and list these models only, from one second after the file changed', async () => {
  await rotate('narrow Narrow aliases=open', 'wide Wide');
  expect(await codeOf(await ask('narrow'))).toEqual([403, 'model_forbidden']);
  expect(await codeOf(await ask('narrow', 'absent'))).toEqual([403, 'model_forbidden']);
  expect((await ask('narrow', 'open')).status).toBe(200);
  const list = (await (await ask('narrow', 'model', 'GET')).json()) as { data: { id: string }[] };
  expect(list.data.map(({ id }) => id)).toEqual(['open']);
  expect((await ask('wide')).status).toBe(200);
});

test('a request above the rate of its client key is 429 with the seconds to wait, and other keys are not affected', async () => {
  await rotate('slow Slow rate=3/hour', 'free Free');
  expect((await ask('slow')).status).toBe(200);
  expect((await ask('slow')).status).toBe(200);
  const before = world.upstream.seen.length;
  const refused = await ask('slow');
  expect(refused.headers.get('retry-after')).toMatch(/^1[12]\d\d$/);
  expect(refused.headers.get('x-should-retry')).toBeNull();
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
  expect(world.upstream.seen.length).toBe(before);
  expect((await ask('free')).status).toBe(200);
  expect(world.gateway.log()).toContain('"client":"Slow"');
});

test('a change of the file of client keys does not reset the rate of an unchanged key', async () => {
  await rotate('first First rate=2/hour');
  expect((await ask('first')).status).toBe(200);
  await rotate('first Other name rate=2/hour', 'second Second');
  expect((await ask('first')).status).toBe(429);
});

test('a client key whose rule is misspelt is refused, other keys are accepted, and the log names the line without the key', async () => {
  await rotate('good Good', 'top-secret-key Bad alias=open', 'twice-key A', 'twice-key B rate=1/hour');
  for (const key of ['top-secret-key', 'twice-key']) expect((await ask(key)).status).toBe(401);
  expect((await ask('good')).status).toBe(200);
  const log = world.gateway.log();
  expect(log).toMatch(/"line":4.*client_key_refused/);
  expect(log).not.toMatch(/top-secret-key|twice-key/);
});

test('requests and tokens of complete and streamed answers are counted by the name of the client', async () => {
  await rotate('counted Counted daily-tokens=500');
  const usage = { prompt_tokens: 7, completion_tokens: 2 };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }];
  world.upstream.play({ kind: 'raw', body: JSON.stringify({ choices, usage }), contentType: 'application/json' });
  await (await ask('counted')).text();
  const frames = [{ choices: [{ index: 0, delta: { content: 'fine' } }] }, { choices: [], usage }];
  const stream = [...frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), 'data: [DONE]\n\n'];
  world.upstream.play({ kind: 'frames', frames: stream, end: 'end' });
  for (const model of ['model', 'open']) await (await ask('counted', model, 'POST', { stream: true })).text();
  await until('the requests are counted', async () =>
    (await metrics('portcullis_gateway_client_requests_total')).some((line) =>
      /"Counted",outcome="passed".* 4$/.test(line),
    ),
  );
  const ofDay = await metrics('portcullis_gateway_client_day_');
  expect(ofDay.some((line) => /day_tokens\{client="Counted".* 27$/.test(line))).toBe(true);
  expect(ofDay.some((line) => /day_budget_tokens\{client="Counted".* 500$/.test(line))).toBe(true);
});

test('the tokens of a stream are estimated if its provider reports no tokens, even if the answer is denied', async () => {
  await rotate('silent Silent daily-tokens=500');
  const frame = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const play = (...deltas: readonly object[]) =>
    world.upstream.play({ kind: 'frames', frames: [...deltas.map(frame), 'data: [DONE]\n\n'], end: 'end' });
  const used = async () => {
    const [line = ''] = (await metrics('portcullis_gateway_client_day_tokens')).filter((one) =>
      one.includes('"Silent"'),
    );
    return Number(line.split(' ').at(-1));
  };
  let before = 0;
  for (const [model, ...deltas] of [
    ['open', { content: 'abcd' }, { content: 'efgh' }, { content: 'ijkl' }],
    ['model', { content: 'abcd' }, { content: 'efgh' }, { content: 'ijkl' }],
    ['model', { content: 'abcd' }, { content: 'leaked' }, { content: 'kl' }],
    ['model', { tool_calls: [{ index: 0, function: { arguments: '{"a":"bcdef"}' } }] }],
  ] as const) {
    play(...deltas);
    await (await ask('silent', model, 'POST', { stream: true })).text();
    await until('the tokens of the stream are counted', async () => (await used()) > before);
    const tokens = (await used()) - before;
    before += tokens;
    // The tokens of the request are counted, too: its texts have a few words.
    expect(tokens).toBeGreaterThanOrEqual(4);
    expect(tokens).toBeLessThan(20);
  }
  const estimated = (await metrics('portcullis_gateway_client_tokens_total')).filter((line) =>
    line.includes('"Silent"'),
  );
  expect(estimated.every((line) => line.includes('source="estimated"'))).toBe(true);
});
