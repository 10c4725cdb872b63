import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTrace } from '../http/trace-context.ts';
import { answers, type ScriptedHttp, startScriptedHttp } from '../testing/scripted-http.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { until } from '../testing/until.ts';
import { exportSpans, spanExportLimits } from './export-spans.ts';

let collector: ScriptedHttp;
beforeAll(async () => {
  collector = await startScriptedHttp(answers({}));
});
afterAll(() => collector?.[Symbol.asyncDispose]());
beforeEach(() => {
  collector.forget();
  collector.play(answers({}));
});

const trace = startTrace('4bf92f3577b34da6a3ce929d0e0e4736', true);
const end = { attributes: {}, failed: false };
const counts = (): readonly number[] =>
  collector.seen.map(({ text }) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans.length as number);

function open(url = new URL('/v1/traces', collector.url), tokenFile?: string) {
  const lines: unknown[] = [];
  const logger = { warn: (event: string, fields?: object) => void lines.push([event, fields]) };
  return { lines, spans: exportSpans({ url, tokenFile }, { service: 'test', logger }) };
}

test('an ended span is sent with the token, once, however often it is ended', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'token');
  writeFileSync(file, 'collector-token\n');
  const { spans } = open(undefined, file);
  await using _spans = spans;
  const first = spans.begin(trace, { name: 'one', kind: 'internal' });
  first(end);
  first(end);
  await until('the span arrives', async () => (collector.seen.length > 0 ? true : undefined));
  expect(counts()).toEqual([1]);
  expect(collector.seen[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'Bearer collector-token' } });
});

test('a span of a trace that is not sampled is not sent', async () => {
  const { spans } = open();
  spans.begin(startTrace(trace.traceId, false), { name: 'one', kind: 'internal' })(end);
  await spans[Symbol.asyncDispose]();
  expect(collector.seen).toEqual([]);
});

test('the end of the process sends the waiting spans, in requests of the maximum size', async () => {
  const { spans, lines } = open();
  for (let count = 0; count < spanExportLimits.waiting; count += 1) {
    spans.begin(trace, { name: 'one', kind: 'internal' })(end);
  }
  await spans[Symbol.asyncDispose]();
  expect(counts().every((count) => count <= spanExportLimits.batch)).toBe(true);
  expect(counts().reduce((sum, count) => sum + count, 0)).toBe(spanExportLimits.waiting);
  expect(lines).toEqual([]);
});

test('a span beyond the maximum queue length is dropped and counted', async () => {
  const { spans, lines } = open();
  for (let count = 0; count <= spanExportLimits.waiting; count += 1) {
    spans.begin(trace, { name: 'one', kind: 'internal' })(end);
  }
  await spans[Symbol.asyncDispose]();
  expect(counts().reduce((sum, count) => sum + count, 0)).toBe(spanExportLimits.waiting);
  expect(lines).toEqual([['spans_dropped', { spans: 1 }]]);
});

test.each([
  ['refuses them', () => new URL('/v1/traces', collector.url)],
  ['cannot be reached', () => new URL('http://127.0.0.1:1/v1/traces')],
])('spans are dropped if the collector %s, and the log has no address', async (_what, url) => {
  collector.play(answers({}, 503));
  const { spans, lines } = open(url());
  spans.begin(trace, { name: 'one', kind: 'internal' })(end);
  await until('the log reports it', async () => (lines.length > 0 ? true : undefined));
  await spans[Symbol.asyncDispose]();
  expect(lines).toEqual([['spans_dropped', { spans: 1 }]]);
});
