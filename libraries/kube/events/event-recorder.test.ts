import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import type { Stored } from '#resources/metadata';
import { createClient } from '../client/client.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { startFakeApiServer } from '../testing/fake-api-server.ts';
import { createEventRecorder, type EventFact, type EventRecorderOptions } from './event-recorder.ts';

async function open(options: Partial<EventRecorderOptions> = {}) {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const clock = createFakeClock();
  const lines: string[] = [];
  const recorder = createEventRecorder({
    client,
    controller: 'portcullis.dev/operator',
    instance: 'operator-1',
    logger: { warn: (_event, fields) => void lines.push(JSON.stringify(fields)) },
    clock,
    firstBackoffMs: 10,
    ...options,
  });
  onTestFinished(async () => {
    await recorder[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const written = (count: number) => until(`${count} writes`, () => recorder.counts().written >= count);
  return { server, clock, recorder, lines, written, events: () => server.objects('events') };
}

function binding(name: string): Stored<KubeObject> {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '7', generation: 1, creationTimestamp: 'now' };
  return { apiVersion: 'portcullis.dev/v1alpha1', kind: 'ModelBinding', metadata };
}

const fact = (name = 'chat', note = 'the workload g-1 does not start'): EventFact => ({
  regarding: binding(name),
  type: 'Warning',
  reason: 'WorkloadUnavailable',
  action: 'Starting',
  note,
});

test('an event has its reason, its object and its reporter', async () => {
  const { recorder, written, events } = await open();
  recorder.record(fact());
  await written(1);
  const [event] = events();
  expect(event?.metadata.name).toMatch(/^chat\.[0-9a-f]{16}$/);
  expect(event).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'team' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    type: 'Warning',
    reason: 'WorkloadUnavailable',
    action: 'Starting',
    note: 'the workload g-1 does not start',
    regarding: {
      apiVersion: 'portcullis.dev/v1alpha1',
      kind: 'ModelBinding',
      namespace: 'team',
      name: 'chat',
      uid: 'uid-chat',
    },
    reportingController: 'portcullis.dev/operator',
    reportingInstance: 'operator-1',
  });
  expect(event).not.toHaveProperty('series');
});

test('repeated events are one series, whose count is written at intervals', async () => {
  const { server, clock, recorder, written, events } = await open();
  recorder.record(fact());
  await written(1);
  clock.advance(30_000);
  recorder.record(fact());
  await written(2);
  expect(events()).toMatchObject([{ series: { count: 2, lastObservedTime: '2026-01-01T00:00:30.000000Z' } }]);
  for (let at = 0; at < 5; at += 1) recorder.record(fact());
  clock.advance(60_000);
  recorder.record(fact());
  await written(3);
  expect(events()).toMatchObject([{ series: { count: 8, lastObservedTime: '2026-01-01T00:01:30.000000Z' } }]);
  expect(server.seen).toHaveLength(3);
});

test('a repetition after ten minutes, another note and another object each make a new event', async () => {
  const { clock, recorder, written, events } = await open();
  recorder.record(fact());
  recorder.record(fact('chat', 'another note'));
  recorder.record(fact('other'));
  await written(3);
  clock.advance(599_999);
  recorder.record(fact());
  await written(4);
  expect(events()).toHaveLength(3);
  clock.advance(600_000);
  recorder.record(fact());
  await written(5);
  expect(events()).toHaveLength(4);
});

test('new events are rate-limited for each object', async () => {
  const { clock, recorder, written, events } = await open();
  for (let at = 0; at < 26; at += 1) recorder.record(fact('noisy', `note ${at}`));
  recorder.record(fact('quiet'));
  await written(26);
  expect(recorder.counts()).toEqual({ written: 26, limited: 1, failed: 0 });
  clock.advance(300_000);
  recorder.record(fact('noisy', 'one came back'));
  recorder.record(fact('noisy', 'two did not'));
  await written(27);
  expect(recorder.counts().limited).toBe(2);
  expect(events()).toHaveLength(27);
});

test('the queue of events is bounded', async () => {
  const { server, recorder } = await open();
  const gate = Promise.withResolvers<void>();
  server.fate = () => gate.promise.then(() => 'served');
  for (let at = 0; at < 600; at += 1) recorder.record(fact(`object-${at}`));
  // One event is being sent, and five hundred events are queued.
  expect(recorder.counts().limited).toBe(99);
  gate.resolve();
  await until('all are written', () => recorder.counts().written === 501);
});

test('the least recently used of a thousand event series is removed', async () => {
  const { recorder, written, events } = await open();
  for (let at = 0; at < 1_001; at += 1) {
    recorder.record(fact(`object-${at}`));
    if (at % 400 === 0 || at === 1_000) await written(at + 1);
  }
  recorder.record(fact('object-1'));
  await written(1_002);
  expect(events()).toHaveLength(1_001);
  recorder.record(fact('object-0'));
  await written(1_003);
  expect(events()).toHaveLength(1_002);
});

test('the note of an event is truncated at 1,024 bytes, between two characters', async () => {
  const { recorder, written, events } = await open();
  recorder.record(fact('a', 'x'.repeat(1_024)));
  recorder.record(fact('b', `${'x'.repeat(1_023)}ä`));
  await written(2);
  expect(events().map((event) => (event['note'] as string).length)).toEqual([1_024, 1_023]);
});

test('a long object name is truncated so that the name of its event has room for a unique suffix', async () => {
  const { recorder, written, events } = await open();
  recorder.record(fact(`${'a'.repeat(235)}.${'b'.repeat(17)}`));
  await written(1);
  expect(events()[0]?.metadata.name).toMatch(/^a{235}\.[0-9a-f]{16}$/);
});

test('an event series whose Event expired continues in a new Event with its count', async () => {
  const { server, recorder, written, events } = await open();
  recorder.record(fact());
  await written(1);
  server.remove('events', events()[0]?.metadata.name ?? '');
  recorder.record(fact());
  await written(2);
  expect(events()).toMatchObject([{ series: { count: 2 } }]);
});

test('an event is dropped after three failed attempts, and the log does not contain its text', async () => {
  const { server, recorder, lines, written } = await open();
  let cuts = 2;
  server.fate = () => {
    cuts -= 1;
    return cuts >= 0 ? 'cut' : 'served';
  };
  recorder.record(fact());
  await written(1);
  cuts = 3;
  recorder.record(fact('other', 'a secret'));
  await until('it is dropped', () => recorder.counts().failed === 1);
  expect(lines).toEqual(['{"code":"network"}']);
});

test('disposing an event recorder writes the queued events, and later ones are not accepted', async () => {
  const { recorder, events } = await open();
  for (let at = 0; at < 20; at += 1) recorder.record(fact(`object-${at}`));
  await recorder[Symbol.asyncDispose]();
  recorder.record(fact('late'));
  expect(events()).toHaveLength(20);
});

test('disposing an event recorder does not wait for a server that does not answer', async () => {
  const { server, recorder } = await open();
  server.fate = () => new Promise(() => {});
  recorder.record(fact());
  await recorder[Symbol.asyncDispose]();
  expect(recorder.counts()).toEqual({ written: 0, limited: 0, failed: 0 });
});
