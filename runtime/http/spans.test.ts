import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { bundleOf, stopList } from '../testing/build-bundle.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
let collector: ScriptedHttp;
let runtime: TestRuntime;
beforeAll(async () => {
  collector = await startScriptedHttp(answers({}));
  const traces = { url: new URL('/v1/traces', collector.url), tokenFile: undefined };
  runtime = await startRuntime(bundleOf([stopList('words', ['xylophone'])]), { traces });
});
afterAll(async () => {
  await runtime?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
});

type Sent = { readonly traceId: string; readonly parentSpanId?: string; readonly name: string };

async function spansOf(trace: string, count: number): Promise<readonly (Sent & { readonly text: string })[]> {
  return await until(`${count} spans are collected`, async () => {
    const all = collector.seen.flatMap(({ text }) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans as Sent[]);
    const found = all.filter((span) => span.traceId === trace).map((span) => ({ ...span, text: JSON.stringify(span) }));
    return found.length >= count ? found : undefined;
  });
}

test('each check is one span below that of its caller, with its decision and without its text', async () => {
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  await runtime.check('request', ['my word is xylophone'], { traceparent });
  await runtime.check('response', ['a zither'], { traceparent });
  await runtime.check('request', ['a zither'], { traceparent, authorization: 'Bearer wrong' });
  const spans = await spansOf(traceId, 3);
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ['check request', '00f067aa0ba902b7'],
    ['check response', '00f067aa0ba902b7'],
    ['check request', '00f067aa0ba902b7'],
  ]);
  const [denied, passed, refused] = spans.map(({ text }) => text);
  expect(denied).toMatch(/"deny".*"words"/);
  expect(passed).toContain('"pass"');
  expect(refused).toMatch(/401/);
  expect(collector.seen.map(({ text }) => text).join()).not.toMatch(/xylophone|zither|Bearer/);
});

test('a check of a trace that its caller does not sample is not recorded', async () => {
  const unsampled = '2'.repeat(32);
  await runtime.check('request', ['hello'], { traceparent: `00-${unsampled}-00f067aa0ba902b7-00` });
  const later = '3'.repeat(32);
  await runtime.check('request', ['hello'], { traceparent: `00-${later}-00f067aa0ba902b7-01` });
  expect(await spansOf(later, 1)).toHaveLength(1);
  expect(collector.seen.map(({ text }) => text).join()).not.toContain(unsampled);
});
