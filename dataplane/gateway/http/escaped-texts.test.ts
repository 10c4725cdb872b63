import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { messageItem, responseBody } from '../testing/response-script.ts';
import { startWorld, type World } from '../testing/start-world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  world.upstream.play({ kind: 'answer', content: 'fine' });
});

const denied = String.raw`{"note":"bad\u0077ord"}`;
const masked = [
  [String.raw`{"note":"pay card\u002d4111"}`, '{"note":"pay ***"}'],
  [String.raw`{"note":"the\npassnumber"}`, String.raw`{"note":"the\n***"}`],
  [String.raw`{"a":"card-4111","b":"x\ncard-4111","n":[1,"\t"]}`, String.raw`{"a":"***","b":"x\n***","n":[1,"\t"]}`],
  ...[
    ['card-4111', 'x\ny'],
    ['x\ncard-4111', 'card-4111'],
    ['the\npassnumber', 'x'],
  ].map((texts) => {
    const inner = JSON.stringify({ texts, price: 'a "b"' });
    const result = JSON.stringify({ content: [{ type: 'text', text: inner }] });
    return [result, result.replaceAll(/card-4111|passnumber/g, '***')] as const;
  }),
] as const;
/** The bodies of a request with the result of a tool, by the path of the API. */
const requests = {
  '/v1/chat/completions': (content: string) => ({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'tool', tool_call_id: 'c', content },
    ],
  }),
  '/v1/responses': (output: string) => ({
    input: [
      { role: 'user', content: 'hi' },
      { type: 'function_call_output', call_id: 'c', output },
    ],
  }),
} as const;

describe.each(Object.entries(requests))('the result of a tool that is JSON, at %s', (path, bodyOf) => {
  beforeEach(() => {
    if (path !== '/v1/responses') return;
    const body = JSON.stringify(responseBody([messageItem(['fine'])]));
    world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
  });
  const sent = () => world.upstream.seen.at(-1)?.text;

  test('an escape sequence does not hide a denied word', async () => {
    const answer = await world.post(path, { model: 'model', ...bodyOf(denied) });
    expect(answer.status).toBe(403);
    expect(world.upstream.seen).toEqual([]);
  });

  test('an escape sequence does not hide a denied word after a message of many parts, whose seams alone exceed a check', async () => {
    const text = 'word '.repeat(100);
    const kind = path === '/v1/responses' ? 'input_text' : 'text';
    const long = { role: 'user', content: Array.from({ length: 45 }, () => ({ type: kind, text })) };
    const body = bodyOf(denied) as { input?: object[]; messages?: object[] };
    const behind = { input: [long, ...(body.input ?? [])], messages: [long, ...(body.messages ?? [])] };
    const [name] = Object.keys(body) as (keyof typeof behind)[];
    const answer = await world.post(path, { model: 'model', [name as string]: behind[name as keyof typeof behind] });
    expect(answer.status).toBe(403);
    expect(world.upstream.seen).toEqual([]);
  });

  test.each(masked)('the result %s is sent with its strings masked, as JSON', async (result, expected) => {
    const answer = await world.post(path, { model: 'model', ...bodyOf(result) });
    expect(answer.status).toBe(200);
    expect(sent()).toContain(JSON.stringify(expected));
  });
});

describe('a whole answer that is JSON', () => {
  const format = { type: 'json_object' };
  const play = (content: string) => world.upstream.play({ kind: 'answer', content });

  test('an escape sequence does not hide a denied word', async () => {
    play(String.raw`{"note":"leak\u0065d"}`);
    const answer = await world.chat({ messages: [{ role: 'user', content: 'hi' }], response_format: format });
    expect(answer.status).toBe(403);
  });

  test.each([
    [String.raw`{"note":"hidd\u0065n"}`, '{"note":"***"}'],
    [String.raw`{"note":"the\npassnumber"}`, String.raw`{"note":"the\n***"}`],
  ])('the answer %s is sent with its strings masked, as JSON', async (content, expected) => {
    play(content);
    const answer = await world.chat({ messages: [{ role: 'user', content: 'hi' }], response_format: format });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: expected } }] });
    const body = JSON.stringify(responseBody([messageItem([content])]));
    world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
    const response = await world.post('/v1/responses', { model: 'model', input: 'hi', text: { format } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ output: [{ content: [{ text: expected }] }] });
  });
});
