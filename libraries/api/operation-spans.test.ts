import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import type { Spans } from '#kit/trace/span';
import { type NoteService, serveNotes } from './testing/note-service.ts';

const [traceId, parentId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const traceparent = `00-${traceId}-${parentId}-01`;

test('each operation is one span below that of its caller, with its name, code and status', async () => {
  const recorded: object[] = [];
  const spans: Spans = {
    isRecording: true,
    begin:
      ({ traceId, parentSpanId, isSampled }, what) =>
      (end) =>
        void recorded.push({ traceId, parentSpanId, isSampled, ...what, ...end }),
  };
  const clock = createFakeClock();
  const service: NoteService = { notes: new Map(), keys: new Map(), clock, beforeStore: async () => undefined };
  const { server } = await serveNotes(service, { spans });
  await using _server = server;
  const call = (query: string, headers: Record<string, string>) =>
    fetch(`${server.url}/notes${query}`, { headers: { traceparent, ...headers } });
  const found = await call('', { 'x-tenant': 'blue' });
  // The client continues below the span of the request.
  expect(found.headers.get('traceparent')?.split('-')[1]).toBe(traceId);
  await call('?limit=x', { 'x-tenant': 'blue' });
  await call('', { traceparent: '' });
  const [good, refused, begun] = recorded;
  const attributes = {
    'portcullis.operation': 'listNotes',
    'portcullis.code': 'none',
    'http.response.status_code': 200,
  };
  const parts = { traceId, parentSpanId: parentId, isSampled: true, kind: 'server', name: 'listNotes' };
  expect(good).toEqual({ ...parts, attributes, failed: false });
  expect(refused).toEqual({
    ...parts,
    attributes: { ...attributes, 'portcullis.code': 'bad_request', 'http.response.status_code': 400 },
    failed: true,
  });
  expect(begun).toMatchObject({ parentSpanId: undefined, isSampled: true, failed: true });
});
