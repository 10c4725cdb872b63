import type { Turns } from '#kit/concurrency/turns';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { Database } from '#sql/connect';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import { type CanonicalText, mostCarried } from '../text/canonical-text.ts';
import { chunkDocument, chunkInContext, type TextChunk } from '../text/chunk-document.ts';
import { type ChunkLengths, chunkingLimits } from '../text/chunk-range.ts';
import { type ChunkTarget, clearChunks, type IndexedChunk, type WriteCondition, writeChunks } from './write-chunks.ts';

type IndexTools = {
  readonly database: Database;
  readonly models: Models;
  readonly analyse: (text: string) => readonly string[];
  readonly countTokens: (text: string) => number;
  readonly turns: Turns;
  readonly onStep: (step: 'chunked' | 'cleared' | 'embedded' | 'written') => void | Promise<void>;
};

type IndexWork = {
  readonly target: ChunkTarget;
  readonly canonical: CanonicalText;
  readonly lengths: ChunkLengths;
  readonly profile: EmbeddingProfile;
  readonly traceId: string;
  readonly condition: WriteCondition;
  readonly signal: AbortSignal;
};

/** Most chunks of one transaction, whatever the batch of the profile. */
const mostRows = 128;

/**
 * Cuts a document into chunks, embeds them in batches of this document alone and writes each batch, so that memory does not
 * grow with the document.
 * @returns how many chunks are written; undefined if the condition of the writes no longer holds
 * @throws DocumentFault, DependencyUnavailableError
 */
export async function indexChunks(tools: IndexTools, work: IndexWork): Promise<number | undefined> {
  const { target, profile, condition } = work;
  const chunks = await fittingChunks(tools, work);
  await tools.onStep('chunked');
  if (!(await clearChunks(tools.database, target, condition))) return undefined;
  await tools.onStep('cleared');
  const batch = Math.min(profile.batch, mostRows);
  for (let at = 0; at < chunks.length; at += batch) {
    const indexed = await embedChunks(tools, work, chunks.slice(at, at + batch));
    await tools.onStep('embedded');
    if (!(await writeChunks(tools.database, target, indexed, condition))) return undefined;
    await tools.onStep('written');
  }
  return chunks.length;
}

type CountedChunk = TextChunk & { readonly tokens: number; readonly passage: string };

/** Chunks that the embedding model accepts: the chunk size is halved while a chunk has too many tokens. */
async function fittingChunks(
  tools: IndexTools,
  { canonical, lengths, profile, signal }: IndexWork,
): Promise<readonly CountedChunk[]> {
  const most = profile.maxTokens - tools.countTokens(profile.passagePrefix);
  for (let { size, overlap } = lengths; ; size = Math.floor(size / 2), overlap = Math.floor(overlap / 2)) {
    const isSmallest = size / 2 < chunkingLimits.minSize;
    const chunks = await countedChunks(tools, canonical, { size, overlap }, { most, isSmallest, signal });
    if (chunks !== undefined) return chunks;
  }
}

/** The chunks of one size; undefined if one has too many tokens and a smaller size is possible. */
async function countedChunks(
  { countTokens, turns }: IndexTools,
  canonical: CanonicalText,
  lengths: ChunkLengths,
  { most, isSmallest, signal }: { readonly most: number; readonly isSmallest: boolean; readonly signal: AbortSignal },
): Promise<readonly CountedChunk[] | undefined> {
  const counted: CountedChunk[] = [];
  for (const chunk of chunkDocument(canonical, lengths)) {
    if (turns.isOver()) await turns.next();
    signal.throwIfAborted();
    const tokens = countTokens(chunk.text);
    const passage = passageOf(canonical.title, chunk, tokens + most * shareOfContext, countTokens);
    if (!isSmallest && countTokens(passage) > most) return undefined;
    counted.push({ ...chunk, tokens, passage });
  }
  return counted;
}

/** The share of the tokens of a profile that title and heading may take from each chunk. */
const shareOfContext = 1 / 4;

/** The chunk with its title and heading, which are shortened until all has at most so many tokens. */
function passageOf(
  title: string | undefined,
  chunk: TextChunk,
  most: number,
  countTokens: (text: string) => number,
): string {
  for (let carried: number = mostCarried; carried > 0; carried = Math.floor(carried / 2)) {
    const passage = chunkInContext(title, chunk, carried);
    if (countTokens(passage) <= most) return passage;
  }
  return chunk.text;
}

async function embedChunks(
  { models, analyse, turns }: IndexTools,
  { profile, traceId, signal }: IndexWork,
  chunks: readonly CountedChunk[],
): Promise<readonly IndexedChunk[]> {
  const passages = chunks.map(({ passage }) => passage);
  try {
    const vectors = await models.embed(profile, 'passage', passages, { signal, ...traceOf(traceId) });
    const indexed: IndexedChunk[] = [];
    for (const [at, chunk] of chunks.entries()) {
      if (turns.isOver()) await turns.next();
      indexed.push({ ...chunk, terms: analyse(chunk.passage), vector: vectors[at] as Float32Array });
    }
    return indexed;
  } catch (error) {
    if (!(error instanceof ModelsError)) throw error;
    switch (error.code) {
      case 'unavailable':
        throw new DependencyUnavailableError('models', error);
      case 'denied':
        throw new DocumentFault('denied', 'the guardrail of the model gateway denied the text');
      case 'refused':
      case 'invalid':
        throw new DocumentFault('embedding_refused', error.message);
    }
  }
}

/** Returns no traceparent for a trace id in another form, which a caller may choose freely. */
function traceOf(traceId: string): { readonly traceparent?: string } {
  return /^(?!0{32})[0-9a-f]{32}$/.test(traceId) ? { traceparent: `00-${traceId}-${traceId.slice(16)}-01` } : {};
}
