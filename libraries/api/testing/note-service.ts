import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { readShape } from '#contracts/read-shape';
import { listen } from '#kit/http/listen';
import { headerValues } from '#kit/http/raw-headers';
import type { Clock } from '#kit/time/clock';
import type { Spans } from '#kit/trace/span';
import { createApi } from '../create-api.ts';
import { detailsOf } from '../details-of.ts';
import { type ApiOperation, type ApiTable, failure, type GateName, success } from '../operation.ts';
import { createCursors, readLimit } from '../pages.ts';
import { commandFingerprint, type KeyHolder, runIdempotent } from '../run-idempotent.ts';

/** A service with tenants by header and its own shape of error bodies. */
const noteErrors = {
  bad_request: { status: 400, meaning: 'Bad request.' },
  bad_cursor: { status: 400, meaning: 'Bad cursor.' },
  key_missing: { status: 400, meaning: 'Idempotency-Key is missing.' },
  key_invalid: { status: 400, meaning: 'Idempotency-Key is invalid.' },
  no_tenant: { status: 401, meaning: 'No tenant.' },
  not_found: { status: 404, meaning: 'Not found.' },
  method_not_allowed: { status: 405, meaning: 'Method not allowed.' },
  timeout: { status: 408, meaning: 'Timeout.' },
  key_reused: { status: 409, meaning: 'Another command has this key.' },
  in_progress: { status: 409, meaning: 'In progress.' },
  too_large: { status: 413, meaning: 'Too large.' },
  media_type: { status: 415, meaning: 'Not JSON.' },
  expectation: { status: 417, meaning: 'Expectation failed.' },
  invalid_note: { status: 422, meaning: 'Invalid note.' },
  header_size: { status: 431, meaning: 'Headers too large.' },
  broken: { status: 500, meaning: 'Internal error.' },
  store_unavailable: { status: 503, meaning: 'The store does not answer.' },
} as const;
type Code = keyof typeof noteErrors;

class StoreAwayError extends Error {}

export type NoteService = {
  readonly notes: Map<string, { readonly id: string; readonly tenant: string; readonly text: string }>;
  readonly keys: Map<string, KeyHolder>;
  readonly clock: Clock;
  /** Called before a note is stored. */
  beforeStore: () => Promise<void>;
};

const noteSchema = z.strictObject({ text: z.string().min(1).max(20) });
const cursors = createCursors('notes/v1');
const bounds = { min: 1, max: 3, default: 2 };

type Row = ApiOperation<NoteService, string, Code>;

const createNote: Row['run'] = async ({ service, body, caller, idempotencyKey }) => {
  const owner = `${caller} ${idempotencyKey}`;
  const fingerprint = commandFingerprint('POST', '/notes', body.digest);
  return runIdempotent<Code>(
    {
      fingerprint,
      findHolder: async () => service.keys.get(owner),
      async attempt() {
        const read = readShape(noteSchema, body.json);
        if (!read.ok) return { kind: 'refused', error: failure('invalid_note', detailsOf(read.problems)) };
        if (service.keys.has(owner)) return { kind: 'taken' };
        service.keys.set(owner, { fingerprint, response: undefined });
        await service.beforeStore();
        const note = { id: uuid(), tenant: caller, text: read.value.text };
        service.notes.set(note.id, note);
        const response = { ...success(note), status: 201 };
        service.keys.set(owner, { fingerprint, response });
        return { kind: 'done', response };
      },
    },
    { clock: service.clock, waitMs: 1_000, faults: noteTable.faults },
  );
};

const readGates: readonly GateName[] = ['identity', 'query', 'path'];
const row = (change: Pick<Row, 'name' | 'method' | 'path' | 'run'> & Partial<Row>): Row => ({
  tag: 'Notes',
  summary: change.name,
  description: change.name,
  gates: readGates,
  parameters: [],
  success: { status: 200, description: 'The answer.', schema: 'Note', headers: [] },
  errors: [],
  obligations: [],
  ...change,
});
const readId = (text: string): string | undefined => (z.uuidv7().safeParse(text).success ? text : undefined);

export const noteTable: ApiTable<NoteService, string, Code> = {
  operations: [
    row({
      name: 'listNotes',
      method: 'GET',
      path: '/notes',
      parameters: [
        {
          name: 'limit',
          in: 'query',
          description: 'Size of a page.',
          required: false,
          schema: { type: 'integer' },
          read: (text) => (readLimit(text, bounds) === undefined ? undefined : text),
        },
        {
          name: 'cursor',
          in: 'query',
          description: 'Cursor.',
          required: false,
          schema: { type: 'string' },
          read: cursors.read,
          fault: 'bad_cursor',
        },
      ],
      run({ service, caller, query }) {
        const { limit, cursor = '' } = query;
        const own = [...service.notes.values()].filter(({ id, tenant }) => tenant === caller && id > cursor);
        const page = own.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, readLimit(limit, bounds));
        const last = page.at(-1);
        const more = last !== undefined && page.length < own.length;
        return success({ items: page.map(({ text }) => text), nextCursor: more ? cursors.write(last.id) : null });
      },
    }),
    row({
      name: 'createNote',
      method: 'POST',
      path: '/notes',
      gates: ['identity', 'query', 'body', 'idempotency_key'],
      body: 'NoteWrite',
      errors: ['invalid_note'],
      run: createNote,
    }),
    row({
      name: 'getNote',
      method: 'GET',
      path: '/notes/{noteId}',
      parameters: [
        { name: 'noteId', in: 'path', description: 'Id.', required: true, schema: { type: 'string' }, read: readId },
      ],
      run({ service, path, caller }) {
        const note = service.notes.get(path('noteId'));
        return note?.tenant === caller ? success(note, { etag: '"1"' }) : failure('not_found');
      },
    }),
    row({
      name: 'fail',
      method: 'GET',
      path: '/fail/{how}',
      parameters: [{ name: 'how', in: 'path', description: 'How.', required: true, schema: { type: 'string' } }],
      run(request) {
        const how = request.path('how');
        if (how === 'gate') return success(request.body);
        throw how === 'store' ? new StoreAwayError() : new Error('secret text');
      },
    }),
  ],
  errors: noteErrors,
  everyError: ['no_tenant', 'bad_request'],
  faults: {
    malformedRequest: 'bad_request',
    headersTooLarge: 'header_size',
    expectationFailed: 'expectation',
    notFound: 'not_found',
    methodNotAllowed: 'method_not_allowed',
    invalidQuery: 'bad_request',
    invalidPath: 'not_found',
    unsupportedMediaType: 'media_type',
    bodyTooLarge: 'too_large',
    requestTimeout: 'timeout',
    idempotencyKeyMissing: 'key_missing',
    idempotencyKeyInvalid: 'key_invalid',
    idempotencyKeyReused: 'key_reused',
    idempotencyInProgress: 'in_progress',
    internal: 'broken',
  },
  errorBody: ({ code, message, traceId, details }) => ({ code, message, traceId, details }),
  limits: { bodyBytes: 200, bodyMs: 10_000, idempotencyKey: { min: 4, max: 8 } },
};

type Ended = { readonly operation: string; readonly code: string; readonly traceId: string };

/** Serves the notes on loopback and records the errors and metrics that the library reports. */
export async function serveNotes(
  service: NoteService,
  { spans, limits = noteTable.limits }: { readonly spans?: Spans; readonly limits?: typeof noteTable.limits } = {},
) {
  const ended: Ended[] = [];
  const thrown: unknown[] = [];
  const api = createApi({
    table: { ...noteTable, limits },
    service,
    spans,
    authorizer: {
      async authorize(rawHeaders) {
        const [tenant] = headerValues(rawHeaders, 'x-tenant');
        return tenant === undefined ? failure('no_tenant') : { kind: 'caller', caller: tenant };
      },
    },
    errorOf: (error) => (error instanceof StoreAwayError ? 'store_unavailable' : undefined),
    onEnded: ({ operation, code, traceId }) => ended.push({ operation, code, traceId }),
    onInternalError: (_operation, error) => thrown.push(error),
    documents: { '/openapi.json': Buffer.from('{}') },
  });
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 10_000,
    maxHeaderBytes: 4_096,
    ...api,
  });
  return { server, ended, thrown };
}
