import { afterEach, expect, test, vi } from 'vitest';
import type { ConsoleContext } from './environment.ts';
import { streamEvents } from './stream-events.ts';

afterEach(() => {
  vi.useRealTimers();
});

const contextOf = (method: string) =>
  ({ get: () => ({ expiresAt: Date.now() / 1_000 + 60 }), req: { method } }) as unknown as ConsoleContext;

test('a stream without events has a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const context = contextOf('GET');
  const answer = Promise.withResolvers<string>();
  async function* parts(): AsyncGenerator<string> {
    yield 'first';
    yield await answer.promise;
  }
  const response = streamEvents(context, parts, new AbortController().signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await reader?.read())?.value;
  expect(await next()).toBe('data: first\n\n');
  vi.advanceTimersByTime(14_999);
  vi.advanceTimersByTime(1);
  expect(await next()).toBe(':\n\n');
  vi.advanceTimersByTime(15_000);
  expect(await next()).toBe(':\n\n');
  answer.resolve('second');
  expect(await next()).toBe('data: second\n\n');
  expect((await reader?.read())?.done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['POST', false, 'data: first\n\nevent: stream-complete\ndata:\n\n'],
  ['GET', false, 'data: first\n\n'],
  ['POST', true, 'data: first\n\n'],
])(
  'only the answer to a form that was not cut ends with a mark of its end: %s, cut: %s',
  async (method, isCut, text) => {
    const stopping = new AbortController();
    async function* parts(): AsyncGenerator<string> {
      yield 'first';
      if (isCut) stopping.abort();
    }
    const response = streamEvents(contextOf(method), parts, stopping.signal);
    expect(await response.text()).toBe(text);
  },
);

test('a HEAD request for a stream starts nothing', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  async function* parts(): AsyncGenerator<string> {
    yield await Promise.reject(new Error('the stream was started'));
  }
  const response = streamEvents(contextOf('HEAD'), parts, new AbortController().signal);
  expect([response.body, response.headers.get('content-type'), vi.getTimerCount()]).toEqual([
    null,
    'text/event-stream',
    0,
  ]);
});

test('a stream whose reader has left has no timer after the process began to stop', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const stopping = new AbortController();
  async function* parts(signal: AbortSignal): AsyncGenerator<string> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield 'last';
  }
  streamEvents(contextOf('GET'), parts, stopping.signal);
  expect(vi.getTimerCount()).toBe(1);
  stopping.abort();
  expect(vi.getTimerCount()).toBe(0);
});
