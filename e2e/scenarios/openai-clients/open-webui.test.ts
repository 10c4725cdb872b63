import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgedTextKinds } from '#contracts/judged-texts';
import { until } from '#kit/testing/until';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { deniedTerm } from '../../support/sample-policy.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';

/**
 * The requests have the members that Open WebUI 0.12.4 sent from its page in November 2026; their texts and the names
 * of the tools are different.
 */
type Said = { readonly role: 'user' | 'assistant'; readonly content: string };

const text = { type: 'string', description: 'words to look for' };
const shapes = [
  { properties: {}, type: 'object' },
  { properties: { query: text, count: { default: 5, description: 'most', type: 'integer' } }, required: ['query'] },
  {
    properties: {
      items: { description: 'each', items: { additionalProperties: true, type: 'object' }, type: 'array' },
    },
  },
  { properties: { state: { default: 'open', enum: ['open', 'done'], type: 'string' } }, required: ['state'] },
  {
    properties: { file: { additionalProperties: false, properties: { coding: { const: 'base64' } }, type: 'object' } },
  },
];
/** Every message of a chat is sent with the tools of the program, about 24 KiB. */
const tools = Array.from({ length: 36 }, (_, at) => ({
  type: 'function',
  function: {
    name: `tool_${at}`,
    description:
      'Looks for one thing among many things, and gives each of them with its name.\nExamples: "one" = 1. '.repeat(5),
    parameters: { type: 'object', ...shapes[at % shapes.length] },
  },
}));

const judgements: readonly (readonly [string, Partial<GatewayRouteSpec>])[] = [
  ['texts of the contract', {}],
  ['every text', { judge: [...judgedTextKinds], unjudged: 'Refuse' }],
];

describe.each(judgements)('a gateway that judges %s', (_, judging) => {
  let world: GuardedGateway;
  const send = (extra: Readonly<Record<string, unknown>>): Promise<ChatResult> =>
    chatCall({ url: world.url, key: world.key, model: alias, content: '', stream: false, extra });
  const chat = (...messages: readonly Said[]) => send({ stream: true, messages, tools });
  /** A request in the background, for a title, labels or the next questions. */
  const ask = (content: string, more: object = {}) =>
    send({ stream: false, messages: [{ role: 'user', content: `### Task:\n${content}` }], ...more });

  beforeAll(async () => {
    world = await startGuardedGateway({ change: (route) => ({ ...route, ...judging, extraRequestKeys: ['min_p'] }) });
    await until('the route is served', async () => (await ask('Are you there?')).status === 200);
  });
  afterAll(async () => world?.[Symbol.asyncDispose]());

  test('the messages of Open WebUI with its tools, and its requests for a title, labels and questions, are answered', async () => {
    const models = await fetch(`${world.url}/v1/models`, { headers: { authorization: `Bearer ${world.key}` } });
    expect(await models.json()).toMatchObject({ object: 'list', data: [{ id: alias }] });
    const hello: Said = { role: 'user', content: 'Good morning' };
    const first = await chat(hello);
    expect(first).toMatchObject({ status: 200, complete: true, text: 'a healthy answer' });
    const second = await chat(hello, { role: 'assistant', content: first.text }, { role: 'user', content: 'And now?' });
    expect(second).toMatchObject({ status: 200, complete: true, text: 'a healthy answer' });
    for (const more of [{ max_tokens: 1_000 }, {}, { max_tokens: 4 }]) {
      expect(await ask('Write a title.', more)).toMatchObject({
        status: 200,
        complete: true,
        text: 'a healthy answer',
      });
    }
    const settings = { temperature: 0.5, max_tokens: 5, seed: 1, stop: ['x'], frequency_penalty: 0.1 };
    const chosen = { ...settings, reasoning_effort: 'low', min_p: 0.1, stream_options: { include_usage: true } };
    expect(await send({ stream: true, messages: [hello], ...chosen })).toMatchObject({ status: 200, complete: true });
  });

  test('a refused message causes a refusal of each later message of its chat, until it is edited or deleted', async () => {
    const before: Said = { role: 'user', content: 'Good morning' };
    const refused: Said = { role: 'user', content: `about ${deniedTerm}` };
    const after: Said = { role: 'user', content: 'Good evening' };
    const denied = { status: 403, error: { type: 'guardrail_blocked', code: 'policy_denied' } };
    expect(await chat(before, refused)).toMatchObject(denied);
    expect(await chat(before, refused, after)).toMatchObject(denied);
    expect(await chat(before, after)).toMatchObject({ status: 200, complete: true });
  });

  test.each([
    ['top_k', 'The request has a member that this model does not accept: top_k.'],
    ['Stream', 'The request has a member whose name differs from a known one only in letter case: Stream.'],
    ['a text in a name', 'The request has a member that this model does not accept.'],
  ])(
    'a setting that the model does not accept is named in the message, which the page shows: %s',
    async (name, message) => {
      const { status, error } = await send({ messages: [{ role: 'user', content: 'Good morning' }], [name]: 5 });
      expect({ status, error }).toMatchObject({ status: 400, error: { type: 'invalid_request_error', message } });
    },
  );
});
