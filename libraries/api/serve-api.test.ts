import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { failure } from './operation.ts';
import { serveApi } from './serve-api.ts';
import { noteTable } from './testing/note-service.ts';

test('the log line of a cause has the trace id of the answer, for a dependency and for a defect of the program', async () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const destination = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  await using served = await serveApi({
    listen: { host: '127.0.0.1', port: 0 },
    table: noteTable,
    service: { notes: new Map(), keys: new Map(), clock: systemClock, beforeStore: async () => undefined },
    authorizer: {
      authorize: async (rawHeaders) =>
        rawHeaders.includes('x-tenant') ? { kind: 'caller', caller: 'acme' } : failure('no_tenant'),
    },
    errorOf: (error) => (error instanceof Error && error.message !== 'secret text' ? 'store_unavailable' : undefined),
    logger: createLogger({ service: 'notes', level: 'info', destination }),
  });
  for (const [path, event] of [
    ['/fail/store', 'dependency_failed'],
    ['/fail/other', 'operation_failed'],
  ] as const) {
    const traceId = (event === 'dependency_failed' ? 'ab' : 'cd').repeat(16);
    const headers = { 'x-tenant': 'acme', traceparent: `00-${traceId}-${'12'.repeat(8)}-01` };
    const answer = (await (await fetch(new URL(path, served.url), { headers })).json()) as { traceId: string };
    expect(answer.traceId).toBe(traceId);
    expect(lines.filter((line) => line['event'] === event)).toEqual([expect.objectContaining({ traceId })]);
  }
});
