import { expect, test } from 'vitest';
import { startTrace } from '#kit/http/trace-context';
import { nodeSpan } from './node-span.ts';

const run = startTrace('4bf92f3577b34da6a3ce929d0e0e4736', true);

test.each([
  ['ask', undefined],
  ['each[3]/ask', 'each'],
  ['part/each[12]/ask', 'part/each'],
  ['part/ask', 'part'],
])('the span of the node %s is below that of the node around it', (path, around) => {
  const parent = around === undefined ? run.spanId : nodeSpan(run, around).spanId;
  expect(nodeSpan(run, path).parentSpanId).toBe(parent);
});

test('the span of a node has the same id each time, and another id in another run and at another path', () => {
  const other = startTrace(run.traceId, true);
  const ids = [nodeSpan(run, 'each[0]/ask'), nodeSpan(run, 'each[1]/ask'), nodeSpan(other, 'each[0]/ask')];
  expect(new Set(ids.map(({ spanId }) => spanId)).size).toBe(3);
  expect(nodeSpan(run, 'each[0]/ask')).toEqual(ids[0]);
  expect(ids[0]).toMatchObject({ traceId: run.traceId, isSampled: true });
});
