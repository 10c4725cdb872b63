import { expect, test } from 'vitest';
import { answers, silence, startScriptedHttp } from '#kit/testing/scripted-http';
import { createGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import { rewriteQuery } from './rewrite-query.ts';

const profile = { id: 'r', model: 'talker', timeoutMs: 60_000 };
const question = 'how many days of leave do I have?';
const chat = (content: string) => ({ choices: [{ message: { content } }] });

async function open() {
  const gateway = await startScriptedHttp(answers(chat('leave days entitlement')));
  const models = createGatewayModels({ url: new URL(gateway.url), pause: async () => undefined });
  return {
    gateway,
    models,
    async [Symbol.asyncDispose]() {
      await models[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}
const answering = (content: string): Pick<Models, 'complete'> => ({ complete: async () => content });

test('a query is rewritten by the model of the profile, which gets the text as a user message', async () => {
  await using world = await open();
  expect(await rewriteQuery(world.models, profile, question)).toBe('leave days entitlement');
  expect(JSON.parse(world.gateway.seen[0]?.text ?? '')).toMatchObject({
    model: 'talker',
    messages: [{ role: 'system' }, { role: 'user', content: question }],
  });
});

test.each([
  [503, { error: { code: 'overloaded' } }],
  [403, { error: { code: 'policy_denied' } }],
  [400, { error: { code: 'upstream_refused' } }],
  [200, { nothing: true }],
])('a query keeps its text when the gateway answers %i %o', async (status, body) => {
  await using world = await open();
  world.gateway.play(answers(body, status));
  expect(await rewriteQuery(world.models, profile, question)).toBe(question);
});

test('a query keeps its text when the model takes longer than the profile allows', async () => {
  await using world = await open();
  world.gateway.play(silence);
  expect(await rewriteQuery(world.models, { ...profile, timeoutMs: 30 }, question)).toBe(question);
});

test.each([
  ['nothing', ''],
  ['no word', ' "?" '],
  ['several lines', 'one\ntwo'],
  ['more than 2,000 units', 'x'.repeat(2_001)],
])('a query keeps its text when the answer is %s', async (_, answer) => {
  expect(await rewriteQuery(answering(answer), profile, question)).toBe(question);
});

test('an answer of 2,000 UTF-16 units is accepted as a query, without the white space around it', async () => {
  const answer = 'x'.repeat(2_000);
  expect(await rewriteQuery(answering(`  ${answer}\n`), profile, question)).toBe(answer);
});

test('a rewrite ends with the request that caused it', async () => {
  await using world = await open();
  world.gateway.play(silence);
  const signal = AbortSignal.abort(new Error('the client has gone'));
  await expect(rewriteQuery(world.models, profile, question, { signal })).rejects.toThrow('the client has gone');
});
