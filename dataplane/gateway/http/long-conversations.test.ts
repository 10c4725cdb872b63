import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { callItem, messageItem, responseBody } from '../testing/response-script.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { served } from '../testing/start-gateway.ts';
import { blockedError, says, startWorld, type World, words } from '../testing/start-world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  const spec = routeSpec('split', `${world.upstream.url}/v1`, routeGuard(pin), { longConversations: 'Split' });
  world.gateway.routes.put(storedRoute('split', spec));
  await served(world.gateway, ['split']);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  world.upstream.play({ kind: 'answer', content: 'fine' });
});

const turn = (content: string) => ({ role: 'user', content });
const chat = (messages: readonly object[]) => world.chat({ model: 'split', messages });
const sentMessages = () =>
  (JSON.parse(world.upstream.seen.at(-1)?.text ?? '{}') as { messages: { content: string }[] }).messages;

test('a conversation within the limits is one check', async () => {
  const before = world.checks.seen.length;
  expect((await chat(Array.from({ length: 32 }, (_, at) => turn(`turn ${at}`)))).status).toBe(200);
  expect(world.checks.seen.length - before).toBe(2);
});

test('a conversation over the limits is judged in consecutive groups of complete messages', async () => {
  const before = world.checks.seen.length;
  expect((await chat(Array.from({ length: 65 }, (_, at) => turn(`turn ${at}`)))).status).toBe(200);
  const groups = world.checks.seen
    .slice(before, before + 3)
    .map(({ body }) => (JSON.parse(body) as { body: { messages: { content: string }[] } }).body.messages);
  expect(groups.map((group) => group.length)).toEqual([32, 32, 1]);
  expect(groups.flat().map(({ content }) => content)).toEqual(Array.from({ length: 65 }, (_, at) => `turn ${at}`));
});

test('messages without text do not count towards the limits of a check', async () => {
  const calls = Array.from({ length: 40 }, (_, at) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
  }));
  const before = world.checks.seen.length;
  expect((await chat([...calls, turn('hi')])).status).toBe(200);
  expect(world.checks.seen.length - before).toBe(2);
});

test('a conversation without any text is checked', async () => {
  const before = world.checks.seen.length;
  expect((await chat([{ role: 'assistant', content: null, tool_calls: [] }])).status).toBe(200);
  expect(world.checks.seen.length - before).toBe(2);
});

test('a deny of any group of messages refuses the complete conversation', async () => {
  const turns = Array.from({ length: 100 }, (_, at) => turn(`turn ${at}`));
  for (const at of [0, 31, 32, 99]) {
    const answer = await chat(turns.with(at, turn(words.deniedInput)));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual(blockedError);
  }
  expect(world.upstream.seen).toEqual([]);
});

test('a message that is too large for one check is refused with count and limit', async () => {
  const answer = await chat([turn('hi'), ...says('x'.repeat(40_000)).messages]);
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ error: { code: 'body_too_large', type: 'invalid_request_error' } });
});

test('the remedy of a conversation over the limits is to divide it, unless one of its messages is too large alone', async () => {
  const remedy = async (messages: readonly object[]) => {
    const answer = await world.chat({ model: 'model', messages });
    const { error } = (await answer.json()) as { error: { message: string } };
    return [answer.status, error.message.split(': ').slice(1).join(': ')];
  };
  const divide = 'send less, or have the binding of this model set longConversations: Split.';
  const shorten = 'send a shorter text.';
  expect(await remedy(Array.from({ length: 10 }, () => turn('x'.repeat(4_000))))).toEqual([413, divide]);
  expect(await remedy([turn('hi'), turn('x'.repeat(40_000))])).toEqual([413, shorten]);
  expect(await remedy([turn('x'.repeat(40_000))])).toEqual([413, shorten]);
});

test('verdicts and masks of random conversations equal those of each message alone', async () => {
  const text = fc.constantFrom('fine', `a ${words.maskedInput} b`, words.maskedInput, 'x'.repeat(3_000), 'нет');
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 120 }), async (texts) => {
      world.upstream.forget();
      expect((await chat(texts.map(turn))).status).toBe(200);
      expect(sentMessages().map(({ content }) => content)).toEqual(
        texts.map((one) => one.replaceAll(words.maskedInput, '***')),
      );
    }),
    { numRuns: 20 },
  );
});

test('a request without a text that is judged is forwarded without a check', async () => {
  const body = JSON.stringify(responseBody([messageItem(['fine'])]));
  world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
  const before = world.checks.seen.length;
  for (const model of ['model', 'split']) {
    expect((await world.post('/v1/responses', { model, input: [callItem('{}')] })).status).toBe(200);
  }
  expect(world.checks.seen.slice(before).map(({ path }) => path)).toEqual(['/response', '/response']);
});
