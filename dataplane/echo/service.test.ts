import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEchoService, type EchoService } from './service.ts';

let service: EchoService;
let client: OpenAI;

beforeAll(async () => {
  service = await createEchoService({ host: '127.0.0.1', port: 0, chunkDelayMs: 0 });
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: string | Uint8Array) => fetch(`${service.url}${path}`, { method: 'POST', body });

describe('chat completions', () => {
  test('a chat completion echoes all text of the last user message, with the usage', async () => {
    const answer = await client.chat.completions.create({
      model: 'any-name',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'ok' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Привет, мир' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'and 🌍' },
          ],
        },
      ],
    });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'any-name',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Привет, мир\nand 🌍', refusal: null },
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    });
    expect(answer.id).toMatch(/^chatcmpl-[0-9a-f-]{36}$/);
  });

  test('a stream has the same text in small pieces, a finish reason, and the usage on request', async () => {
    const text = 'Съешь же ещё этих мягких французских булок, да выпей чаю 🍵🍵🍵.';
    const stream = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: text }],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(text);
    expect(chunks.length).toBeGreaterThan(6);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 15 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('a stream consists of server-sent events and ends with [DONE]', async () => {
    const answer = await post(
      '/v1/chat/completions',
      JSON.stringify({ model: 'm', stream: true, messages: [user('hi')] }),
    );
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const frames = (await answer.text()).split('\n\n');
    expect(frames.pop()).toBe('');
    expect(frames.pop()).toBe('data: [DONE]');
    for (const frame of frames) expect(JSON.parse(frame.replace(/^data: /, ''))).not.toHaveProperty('usage');
  });

  test('a completion of the echo model stops at the requested number of tokens', async () => {
    const answer = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'one two, three' }],
      max_tokens: 3,
    });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'one two,' } });
  });

  test('a completion keeps white space, and answers an empty message with an empty text', async () => {
    for (const content of ['', '  a\n\tb  \n', '\n', '...']) {
      const answer = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
      expect(answer.choices[0]?.message.content).toBe(content);
    }
  });
});

describe('embeddings', () => {
  test('an embedding depends on the text alone, has length one, and is close to embeddings of texts with common words', async () => {
    const input = ['a red apple', 'the red apple', 'quarterly figures'];
    const answer = await client.embeddings.create({ model: 'm', input });
    const [first, second, third] = answer.data.map(({ embedding }) => embedding);
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(first).toHaveLength(256);
    expect(Math.hypot(...first!)).toBeCloseTo(1, 5);
    expect(dot(first!, second!)).toBeGreaterThan(dot(first!, third!));
    const again = await client.embeddings.create({ model: 'm', input: 'a red apple', encoding_format: 'float' });
    expect(again.data[0]?.embedding).toEqual(first);
    const short = await client.embeddings.create({ model: 'm', input: ' ', dimensions: 3 });
    expect(short.data[0]?.embedding).toEqual([1, 0, 0]);
  });
});

test('a rerank answer lists the documents with more words of the query first, and their text only on request', async () => {
  const documents = ['quarterly figures', 'a green apple', 'The red apple!'];
  const ask = async (more: object) =>
    JSON.parse(
      await (await post('/v1/rerank', JSON.stringify({ model: 'm', query: 'red apple', documents, ...more }))).text(),
    );
  const ranked = await ask({});
  expect(ranked.results.map(({ index }: { index: number }) => index)).toEqual([2, 1, 0]);
  expect(ranked.results[2]).toEqual({ index: 0, relevance_score: 0 });
  expect(await ask({})).toEqual(ranked);
  expect((await ask({ top_n: 1, return_documents: true })).results).toMatchObject([
    { index: 2, document: { text: 'The red apple!' } },
  ]);
});

describe('the rest', () => {
  test('GET /v1/models names the model', async () => {
    expect((await client.models.list()).data).toMatchObject([{ id: 'echo', object: 'model', owned_by: 'portcullis' }]);
  });

  test('a fault is answered with a status and a code, without text of the request', async () => {
    const cases = [
      ['/v1/chat/completions', '{"model":', 400, 'invalid_json'],
      ['/v1/chat/completions', '{"model":"a","model":"b","messages":[]}', 400, 'invalid_json'],
      ['/v1/chat/completions', '{"model":"secret","messages":[]}', 400, 'invalid_request'],
      [
        '/v1/chat/completions',
        JSON.stringify({ model: 'm', n: 2, messages: [user('secret')] }),
        400,
        'invalid_request',
      ],
      ['/v1/embeddings', JSON.stringify({ model: 'm', input: [[1, 2]] }), 400, 'invalid_request'],
      ['/v1/rerank', JSON.stringify({ model: 'm', query: 'secret', documents: [] }), 400, 'invalid_request'],
      ['/v1/models', '{}', 405, 'method_not_allowed'],
      ['/v1/completions', '{}', 404, 'not_found'],
      ['/', '{}', 404, 'not_found'],
    ] as const;
    for (const [path, body, status, code] of cases) {
      const answer = await post(path, body);
      expect(answer.status, path + body).toBe(status);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ error: { code, type: 'invalid_request_error' } });
      expect(text).not.toContain('secret');
    }
  });

  test('a body at the limit is accepted, and one byte more is refused', async () => {
    const frame = Buffer.byteLength(JSON.stringify({ model: 'm', messages: [user('')] }));
    const body = (bytes: number) => JSON.stringify({ model: 'm', messages: [user('x'.repeat(bytes - frame))] });
    const limit = 20 * 1_024 * 1_024;
    expect((await post('/v1/embeddings', body(limit))).status).toBe(400);
    expect((await post('/v1/embeddings', body(limit + 1))).status).toBe(413);
  });

  test('a stream pauses before each chunk if configured, and ends when its client disconnects', async () => {
    await using slow = await createEchoService({ host: '127.0.0.1', port: 0, chunkDelayMs: 60_000 });
    const body = JSON.stringify({ model: 'm', stream: true, messages: [user('a b c')] });
    const gone = new AbortController();
    const answer = await fetch(`${slow.url}/v1/chat/completions`, { method: 'POST', body, signal: gone.signal });
    const reader = answer.body!.getReader();
    const first = Buffer.from((await reader.read()).value!).toString();
    expect(first.split('\n\n').filter(Boolean)).toHaveLength(1);
    gone.abort();
    await expect(reader.read()).rejects.toThrow();
  });
});

test('the process logs its address, serves, and exits with its parent', async () => {
  const child = spawn(process.execPath, [new URL('./main.ts', import.meta.url).pathname], {
    env: { ...process.env, PORTCULLIS_LISTEN: '127.0.0.1:0', PORTCULLIS_EXIT_WITH_STDIN: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { listening } = JSON.parse(line);
  expect((await fetch(`${listening}/v1/models`)).status).toBe(200);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

function user(content: string): { role: 'user'; content: string } {
  return { role: 'user', content };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}
