import { createHash } from 'node:crypto';
import type { EmbeddingProfile } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import type { Database } from '#sql/connect';
import type { TextChunk } from '../text/chunk-document.ts';
import type { ChunkTarget } from './write-chunks.ts';

/** A chunk that fits; `passage` is the part of it that models and the analysis of terms get. */
export type MeasuredChunk = TextChunk & { readonly tokens: number; readonly passage: string };

/**
 * SHA-256 in hexadecimal digits of everything that determines the stored rows of a batch of chunks: the content of the profile, and the
 * place, heading and passage of each chunk. Batches with equal origins have equal texts, and vectors of the same profile.
 */
export function batchOrigin(profile: EmbeddingProfile, chunks: readonly MeasuredChunk[]): string {
  const parts = chunks.map(({ no, start, end, heading, page, tokens, passage }) => {
    return [no, start, end, heading ?? null, page ?? null, tokens, passage];
  });
  return createHash('sha256')
    .update(JSON.stringify([vectorsKey(profile), parts]))
    .digest('hex');
}

/**
 * Whether an earlier attempt wrote a batch of this origin for the target, and all of its chunks still exist: an
 * interrupted removal may have removed some of them.
 * @param batch.chunks at least one chunk
 */
export async function isWritten(
  { sql }: Database,
  { doc, seq, version }: Pick<ChunkTarget, 'doc' | 'seq' | 'version'>,
  { chunks, origin }: { readonly chunks: readonly Pick<MeasuredChunk, 'no'>[]; readonly origin: string },
): Promise<boolean> {
  const [row] = await sql<{ complete: boolean }[]>`
    select count(*) = ${chunks.length}::int and coalesce(bool_or(made_from = decode(${origin}, 'hex')), false) as complete
    from retrieval.chunks
    where doc = ${doc} and seq = ${seq} and version = ${version}
      and no between ${chunks[0]?.no ?? 0} and ${chunks.at(-1)?.no ?? 0}`;
  return row?.complete === true;
}
