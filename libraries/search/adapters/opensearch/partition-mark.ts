import { z } from 'zod';
import { SearchUnavailableError } from '../../search-error.ts';
import { connectionLimits } from './connect-opensearch.ts';
import { markOf } from './index-layout.ts';
import type { WriteTarget } from './write-documents.ts';

/** The record in the index of the change up to which a partition is in it. */
export type PartitionMark = {
  readonly at: bigint;
  /** The position of the record in the history of its shard, which a write must name to replace the record. */
  readonly position: { readonly if_seq_no: number; readonly if_primary_term: number };
};

const found = z.object({
  found: z.literal(true),
  _seq_no: z.number(),
  _primary_term: z.number(),
  fields: z.object({ at: z.tuple([z.number()]) }),
});
const notFound = z.union([z.object({ found: z.literal(false) }), z.object({ error: z.object({}) })]);

/** The newest mark, whether it can be found by a search or not; undefined if the index or the mark is missing. */
export async function readPartitionMark({
  connection,
  alias,
  routing,
  partition,
}: WriteTarget): Promise<PartitionMark | undefined> {
  const path = `/${alias}/_doc/${markOf(partition)}`;
  const parameters = { routing, stored_fields: 'at' };
  const { status, body } = await connection.ask({ method: 'GET', path, parameters });
  if (status === 404 && notFound.safeParse(body).success) return undefined;
  const answer = found.safeParse(body);
  if (status !== 200 || !answer.success) throw unusable(status);
  const { _seq_no, _primary_term, fields } = answer.data;
  return { at: BigInt(fields.at[0]), position: { if_seq_no: _seq_no, if_primary_term: _primary_term } };
}

const written = z.object({
  _seq_no: z.number(),
  _primary_term: z.number(),
  _shards: z.object({ failed: z.literal(0) }),
});

/**
 * Replaces the mark that was read before, and makes all documents findable that were written to its shard. `overtaken`
 * if another process has replaced the mark, or if the mark is missing because the index was lost.
 */
export async function writePartitionMark(
  { connection, alias, routing, partition }: WriteTarget,
  at: bigint,
  before: PartitionMark | undefined,
): Promise<PartitionMark | 'overtaken'> {
  const { status, body } = await connection.ask({
    method: 'PUT',
    path: `/${alias}/${before === undefined ? '_create' : '_doc'}/${markOf(partition)}`,
    parameters: { routing, refresh: true, require_alias: true, ...before?.position },
    body: { id: String(at), at: Number(at) },
    timeoutMs: connectionLimits.writeMs,
  });
  if (status === 409) return 'overtaken';
  if (status === 404) throw new SearchUnavailableError('absent');
  const answer = written.safeParse(body);
  if ((status !== 200 && status !== 201) || !answer.success) throw unusable(status);
  const { _seq_no, _primary_term } = answer.data;
  return { at, position: { if_seq_no: _seq_no, if_primary_term: _primary_term } };
}

function unusable(status: number): SearchUnavailableError {
  return new SearchUnavailableError(
    'unreachable',
    new Error(`OpenSearch: status ${status} of the mark of a partition`),
  );
}
