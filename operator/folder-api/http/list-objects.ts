import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { apiVersion, type Kind } from '#resources/kinds';
import { ApiRefusal } from '../api-refusal.ts';
import type { ListSnapshots, Page } from '../list-snapshots.ts';
import type { ListQuery } from './list-query.ts';

/** GET of a collection: one page, or all objects. */
export async function listObjects(
  outgoing: ServerResponse,
  kind: Kind,
  query: ListQuery,
  snapshots: ListSnapshots,
  newest: number,
): Promise<void> {
  if (query.resourceVersion > newest) throw tooLargeVersion(query.resourceVersion, newest);
  const page = snapshots.page({ kind, limit: query.limit, token: query.token, matches: query.matches });
  if (query.exactVersion && page.version !== query.resourceVersion) {
    throw new ApiRefusal('Expired', 'the requested resource version is no longer available');
  }
  await sendPage(outgoing, kind, page);
}

/** The response to a version above the newest version, like that of the API server. */
export function tooLargeVersion(wanted: number, newest: number): ApiRefusal {
  return new ApiRefusal('Timeout', `Too large resource version: ${wanted}, current: ${newest}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** Sends the stored bytes with backpressure. */
async function sendPage(outgoing: ServerResponse, kind: Kind, page: Page): Promise<void> {
  const metadata = {
    resourceVersion: String(page.version),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  const head = JSON.stringify({ apiVersion, kind: `${kind.kind}List`, metadata }).slice(0, -1);
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.write(`${head},"items":[`);
  let separator = '';
  for (const object of page.objects) {
    if (outgoing.destroyed) return;
    outgoing.cork();
    outgoing.write(separator);
    const more = outgoing.write(object.bytes);
    outgoing.uncork();
    separator = ',';
    if (!more && outgoing.writableNeedDrain) await drained(outgoing);
  }
  outgoing.end(']}');
}

async function drained(outgoing: ServerResponse): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    await Promise.race([once(outgoing, 'drain', { signal }), once(outgoing, 'close', { signal })]);
  } finally {
    ended.abort();
  }
}
