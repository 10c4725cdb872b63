import { z } from 'zod';
import { createBackoff } from '#kit/time/backoff';
import { wait } from '#kit/time/wait';
import { SearchUnavailableError } from '../../search-error.ts';
import { blockedType, type Connection, connectionLimits } from './connect-opensearch.ts';

/** Limits of one bulk request; the limit that is reached first ends it. */
const bulkLimits = { documents: 500, bytes: 4 * 2 ** 20 } as const;
/** Attempts to write a document that a busy server refuses, with backoff between them. */
const busyTries = 6;
const neverAborted = new AbortController().signal;

/** A document and the number of the change that it reflects; a stored document with a larger number is kept. */
export type IndexDocument = {
  readonly id: string;
  readonly version: number;
  readonly content: Readonly<Record<string, unknown>>;
};

export type WriteTarget = {
  readonly connection: Connection;
  readonly alias: string;
  readonly routing: string;
  readonly partition: string;
};

const bulkAnswer = z.object({
  items: z.array(
    z.object({ index: z.object({ status: z.number(), error: z.object({ type: z.string() }).optional() }) }),
  ),
});

/**
 * Writes documents, which are found after the next refresh.
 * @throws SearchUnavailableError `absent` if there is no such index, `read_only` if the index accepts no writes,
 * `unreachable` if a document is refused
 */
export async function writeDocuments(target: WriteTarget, documents: Iterable<IndexDocument>): Promise<void> {
  for (const part of divide(documents)) await writePart(target, part);
}

type Line = { readonly text: string; readonly bytes: number };

function* divide(documents: Iterable<IndexDocument>): Generator<readonly Line[]> {
  let part: Line[] = [];
  let bytes = 0;
  for (const document of documents) {
    const line = lineOf(document);
    if (part.length > 0 && (part.length === bulkLimits.documents || bytes + line.bytes > bulkLimits.bytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(line);
    bytes += line.bytes;
  }
  if (part.length > 0) yield part;
}

function lineOf({ id, version, content }: IndexDocument): Line {
  const action = { index: { _id: id, version, version_type: 'external_gte' } };
  const text = `${JSON.stringify(action)}\n${JSON.stringify(content)}\n`;
  return { text, bytes: Buffer.byteLength(text) };
}

async function writePart(target: WriteTarget, part: readonly Line[]): Promise<void> {
  const pauses = createBackoff({ firstMs: 50, maxMs: 5_000, resetAfterMs: 60_000, now: () => performance.now() });
  let rest = part;
  for (let tries = 1; ; tries += 1) {
    rest = await sendLines(target, rest);
    if (rest.length === 0) return;
    if (tries === busyTries) throw refused('status 429');
    await wait(pauses.next(), neverAborted);
  }
}

/** The lines that the server was too busy to accept. */
async function sendLines(target: WriteTarget, lines: readonly Line[]): Promise<readonly Line[]> {
  const { connection, alias, routing } = target;
  const { status, body } = await connection.ask({
    method: 'POST',
    path: `/${alias}/_bulk`,
    parameters: { require_alias: true, routing },
    body: lines.map(({ text }) => text).join(''),
    timeoutMs: connectionLimits.writeMs,
    busyIsAnswer: true,
  });
  if (status === 429) return lines;
  if (status === 404) throw new SearchUnavailableError('absent');
  const answer = bulkAnswer.safeParse(body);
  if (status !== 200 || !answer.success || answer.data.items.length !== lines.length) throw refused(`status ${status}`);
  return lines.filter((_, at) => isBusy(answer.data.items[at]?.index));
}

/** Whether an item must be sent again. If the index has a newer document with the same id, it need not. */
function isBusy(item: { readonly status: number; readonly error?: { readonly type: string } | undefined } | undefined) {
  const status = item?.status ?? 0;
  if (item?.error?.type === blockedType) throw new SearchUnavailableError('read_only');
  if (status === 429) return true;
  if (status === 404) throw new SearchUnavailableError('absent');
  if (status === 409 && item?.error?.type === 'version_conflict_engine_exception') return false;
  if (status !== 200 && status !== 201) throw refused(`a document was refused with ${status} ${item?.error?.type}`);
  return false;
}

function refused(reason: string): SearchUnavailableError {
  return new SearchUnavailableError('unreachable', new Error(`OpenSearch: ${reason}`));
}

const deletion = z.object({ timed_out: z.literal(false), failures: z.array(z.unknown()).length(0) });

/** Removes the documents that a query finds in the refreshed index; a document that changes meanwhile stays. */
export async function deleteDocuments(target: WriteTarget, query: Readonly<Record<string, unknown>>): Promise<void> {
  const { connection, alias, routing } = target;
  const { status, body } = await connection.ask({
    method: 'POST',
    path: `/${alias}/_delete_by_query`,
    parameters: { conflicts: 'proceed', routing, timeout: '60s' },
    body: { query },
    timeoutMs: connectionLimits.writeMs,
  });
  if (status === 404) throw new SearchUnavailableError('absent');
  if (status !== 200 || !deletion.safeParse(body).success) throw refused(`status ${status} of a deletion`);
}

/** Makes written documents findable. */
export async function refreshIndex({ connection, alias }: WriteTarget): Promise<void> {
  const path = `/${alias}/_refresh`;
  const { status, body } = await connection.ask({ method: 'POST', path, timeoutMs: connectionLimits.writeMs });
  if (status === 404) throw new SearchUnavailableError('absent');
  const answer = z.object({ _shards: z.object({ failed: z.literal(0) }) }).safeParse(body);
  if (status !== 200 || !answer.success) throw refused(`status ${status} of a refresh`);
}
