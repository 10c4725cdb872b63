import type { Asker } from './expected-rights.ts';
import type { RightsService } from './rights-steps.ts';

/** Number of documents with one chunk; one of them at a time is shared. */
const shared = 10;
/** Hidden documents and the chunks of each: together they exceed the first windows of a query for one result. */
const fillers = { documents: 10, chunks: 44 } as const;
const modes = ['bm25', 'vector', 'hybrid'] as const;

type LargeComparison = {
  readonly queries: number;
  /** Documents in an answer that the caller may not see. */
  readonly forbidden: number;
  /** Queries that lack the only document that the caller may see. */
  readonly missing: number;
};

/**
 * Sends queries for one result in a collection whose 450 chunks all match: the caller may see one of them, then another
 * one, and a second caller none.
 */
export async function compareLargeCollection(
  { call, ingest }: RightsService,
  random: () => number,
): Promise<LargeComparison> {
  const [owner, reader, stranger] = ['large-owner', 'large-reader', 'large-stranger'].map(asUser) as [
    Asker,
    Asker,
    Asker,
  ];
  const collection = {
    name: 'large',
    embedding_profile_id: 'test-profile',
    visibility: 'public',
    acl_model: 'document',
  };
  const created = await call(owner, '/v1/collections', collection);
  if (created.status !== 201) throw new Error(`the large collection was not created: ${created.status}`);
  const hidden = { groups: ['large-group'], principals: [] };
  const ids = Array.from({ length: shared }, (_, at) => `large-${at}`);
  // Longer texts rank after shorter texts with the same words.
  const texts = ids.map((docId) => [`common words of ${docId}, which rank behind those of every other chunk`]);
  const filled = Array.from({ length: fillers.documents }, (_, at) =>
    Array.from({ length: fillers.chunks }, (_chunk, no) => `common words ${at} ${no}`),
  );
  await ingest(owner, [
    ...texts.map((sections, at) => documentOf(`large-${at}`, sections, hidden)),
    ...filled.map((sections, at) => documentOf(`filler-${at}`, sections, hidden)),
  ]);
  const counts = { queries: 0, forbidden: 0, missing: 0 };
  const query = async (asker: Asker, expected: readonly string[]): Promise<void> => {
    for (const mode of modes) {
      counts.queries += 1;
      const found = await queryOne(call, asker, mode);
      counts.forbidden += found.filter((docId) => !expected.includes(docId)).length;
      counts.missing += expected.filter((docId) => !found.includes(docId)).length;
    }
  };
  const share = async (docId: string, acl: object): Promise<void> => {
    const { status } = await call(owner, '/v1/documents:acl', { collection: 'large', doc_id: docId, acl });
    if (status !== 200) throw new Error(`the document ${docId} was not shared: ${status}`);
  };
  await query(reader, []);
  for (const half of [0, 1]) {
    const shown = ids[Math.floor(((half + random()) * shared) / 2)] as string;
    await share(shown, { groups: [], principals: [reader.user] });
    await query(reader, [shown]);
    await query(stranger, []);
    await share(shown, hidden);
    await query(reader, []);
  }
  return counts;
}

/**
 * The documents of a query for one result. A busy search engine may refuse a query with 503: the query is sent again,
 * at most five times.
 */
async function queryOne(call: RightsService['call'], asker: Asker, mode: string): Promise<readonly string[]> {
  const body = { collection: 'large', text: 'common words', mode, top_k: 1 };
  for (let sent = 1; ; sent += 1) {
    const { status, json } = await call(asker, '/v1/query', body);
    if (status === 200) return (json as { items: readonly { doc_id: string }[] }).items.map(({ doc_id }) => doc_id);
    if (status !== 503 || sent > 5) throw new Error(`a query of the large collection was answered ${status}`);
  }
}

function documentOf(docId: string, sections: readonly string[], acl: object): object {
  return {
    collection: 'large',
    tenant_id: 'acme',
    doc_id: docId,
    content: { sections: sections.map((text) => ({ text })) },
    acl,
    content_hash: '0',
    idempotency_key: '0',
  };
}

function asUser(user: string): Asker {
  return { tenant: 'acme', user, groups: [], principals: [], agent: undefined };
}
