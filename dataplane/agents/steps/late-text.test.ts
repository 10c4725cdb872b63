import { expect, test } from 'vitest';
import type { CheckClient } from '#checks/client';
import { loadFlow } from '#flow/loader/load-flow';
import { chainText } from '#flow/testing/flow-text';
import { scriptedPorts } from '#flow/testing/scripted-ports';
import { runEntryPoint } from './run-entry-point.ts';
import { TextStream } from './text-stream.ts';

const policies = {} as never;

test('a stream of text sends nothing after its call was cancelled', async () => {
  const stop = new AbortController();
  const released: string[] = [];
  const onReleased = (text: string): void => void released.push(text);
  const checks = {} as CheckClient;
  const stream = new TextStream({ guard: { checks, policies }, guardrail: 'None', signal: stop.signal, onReleased });
  await stream.add('one ');
  await stream.add('two ');
  stop.abort();
  await expect(stream.add('three ')).rejects.toMatchObject({ code: 'cancelled' });
  expect(released).toEqual(['one ']);
});

test('a window that passes after the call was cancelled is not sent', async () => {
  const stop = new AbortController();
  const released: string[] = [];
  const onReleased = (text: string): void => void released.push(text);
  const check: CheckClient['check'] = async () => {
    stop.abort();
    return { kind: 'pass' } as never;
  };
  const stream = new TextStream({
    guard: { checks: { check } as CheckClient, policies: { target: () => ({}) } as never },
    guardrail: { name: 'texts', revision: 1 },
    signal: stop.signal,
    onReleased,
  });
  await expect(stream.add('word '.repeat(500))).rejects.toMatchObject({ code: 'cancelled' });
  expect(released).toEqual([]);
});

test('text that was queued before a cancellation is not delivered after it', async () => {
  const stop = new AbortController();
  const ask = {
    id: 'ask',
    kind: 'prompt',
    config: { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] },
  };
  const load = loadFlow(chainText([ask]));
  if (!load.ok) throw new Error('the flow is refused');
  const { ports } = scriptedPorts({
    async model({ onText }) {
      onText?.('one ');
      onText?.('two ');
      return { text: 'one two ', usage: { promptTokens: 1, completionTokens: 1 } };
    },
  });
  const texts: string[] = [];
  const onText = async (text: string): Promise<void> => {
    texts.push(text);
    stop.abort();
  };
  const request = { entrypoint: 'main', input: {}, context: {}, runId: 'r', traceId: 't' };
  const run = runEntryPoint(load.flow, request, { ports, signal: stop.signal, onEvent: () => {}, onText });
  await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  expect(texts).toEqual(['one ']);
});
