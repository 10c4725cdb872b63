import { expect, test } from 'vitest';
import { chainText, flowText } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';
import { EventQueue, type RunEvent } from './run-events.ts';

const usage = { promptTokens: 1, completionTokens: 1 };
const ask = {
  id: 'ask',
  kind: 'prompt',
  config: { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] },
};
const textsOf = (events: readonly RunEvent[]) => events.flatMap((event) => (event.type === 'text' ? [event.text] : []));

test('text of an attempt that has timed out is dropped, while the run continues', async () => {
  let late: ((text: string) => void) | undefined;
  const model: FlowPorts['model'] = async ({ onText }) => {
    late = onText;
    onText?.('early');
    return await new Promise(() => {});
  };
  const http: FlowPorts['http'] = async () => {
    late?.(' late');
    return { status: 200, body: null };
  };
  const nodes = [
    { ...ask, timeoutMs: 20, onError: { goto: 'get' } },
    { id: 'get', kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/' } },
    { id: 'other', kind: 'output', inputs: { text: 'other' } },
  ];
  const edges = [
    ['start', 'ask'],
    ['ask', 'end'],
    ['get', 'other'],
  ] as const;
  const { events, last } = await runText(flowText({ nodes, edges }), { model, http });
  expect(last).toMatchObject({ type: 'result', result: { text: 'other' } });
  expect(textsOf(events)).toEqual(['early']);
});

test('text of a failed attempt is dropped when it arrives during the next one', async () => {
  const given: ((text: string) => void)[] = [];
  const model: FlowPorts['model'] = async ({ onText }) => {
    if (onText !== undefined) given.push(onText);
    if (given.length === 1) throw new PortError('unavailable');
    given[0]?.('first ');
    onText?.('second');
    return { text: 'second', usage };
  };
  const retry = { maxAttempts: 2, backoffMs: 1 };
  const { events, last } = await runText(chainText([{ ...ask, retry }]), { model });
  expect([last?.type, textsOf(events)]).toEqual(['result', ['second']]);
});

test('an event that is added after the end of a run is not read', async () => {
  const queue = new EventQueue();
  queue.add({ type: 'result', result: { text: 'done' } });
  queue.end();
  queue.add({ type: 'text', node: 'ask', path: 'ask', text: 'late' });
  const read: RunEvent[] = [];
  for await (const event of queue.read()) read.push(event);
  expect(read.map(({ type }) => type)).toEqual(['result']);
});
