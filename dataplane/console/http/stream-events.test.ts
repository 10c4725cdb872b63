import { afterEach, expect, test, vi } from 'vitest';
import type { ConsoleContext } from './environment.ts';
import { streamEvents } from './stream-events.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a stream without events has a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const context = { get: () => ({ expiresAt: Date.now() / 1_000 + 60 }) } as unknown as ConsoleContext;
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
