import type { Turns } from '#kit/concurrency/turns';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { Database } from '#sql/connect';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import { type CanonicalText, mostCarried } from '../text/canonical-text.ts';
import { chunkDocument, chunkInContext, type TextChunk } from '../text/chunk-document.ts';
import { type ChunkLengths, chunkingLimits } from '../text/chunk-range.ts';
import { batchOrigin, isWritten, type MeasuredChunk } from './batch-origin.ts';
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

/** Maximum number of chunks of one transaction, even if the batch of the profile is larger. */
const mostRows = 128;

/**
 * Splits a document into chunks, embeds them in batches of this document only and writes each batch. The document is
 * split twice: first to find a chunk size that fits, then batch by batch, so that only the chunks of one batch are in
 * memory. The first batches of an earlier attempt are kept if they would be written again unchanged; all other chunks
 * of that attempt are removed.
 * @returns the number of written chunks; undefined if the condition of the writes is no longer met
 * @throws DocumentFault, DependencyUnavailableError
 */
export async function indexChunks(tools: IndexTools, work: IndexWork): Promise<number | undefined> {
  const { canonical, target, profile, condition } = work;
  const { database, onStep } = tools;
  const cut = await fittingCut(tools, work);
  await onStep('chunked');
  const clearFrom = async (no: number): Promise<boolean> => {
    if (!(await clearChunks(database, target, { from: no, condition }))) return false;
    await onStep('cleared');
    return true;
  };
  let isCleared = false;
  for (const chunks of batchesOf(chunksOf(canonical, cut), Math.min(profile.batch, mostRows))) {
    work.signal.throwIfAborted();
    const origin = batchOrigin(profile, chunks);
    if (!isCleared && (await isWritten(database, target, { chunks, origin }))) continue;
    if (!isCleared && !(await clearFrom(chunks[0]?.no ?? 0))) return undefined;
    isCleared = true;
    const indexed = await embedChunks(tools, work, chunks);
    await onStep('embedded');
    if (!(await writeChunks(database, target, { chunks: indexed, origin }, condition))) return undefined;
    await onStep('written');
  }
  if (!isCleared && !(await clearFrom(cut.tokens.length))) return undefined;
  return cut.tokens.length;
}

/** How a document is split. The lists have one number for each chunk. */
type Cut = {
  readonly lengths: ChunkLengths;
  /** Number of tokens of the text of the chunk. */
  readonly tokens: readonly number[];
  /** UTF-16 units of the title and of the heading that precede the text for the model. */
  readonly carried: readonly number[];
};

/** Finds a division that the embedding model accepts: the chunk size is halved while a chunk has too many tokens. */
async function fittingCut(tools: IndexTools, { canonical, lengths, profile, signal }: IndexWork): Promise<Cut> {
  const most = profile.maxTokens - tools.countTokens(profile.passagePrefix);
  for (let { size, overlap } = lengths; ; size = Math.floor(size / 2), overlap = Math.floor(overlap / 2)) {
    const isSmallest = size / 2 < chunkingLimits.minSize;
    const cut = await measuredCut(tools, canonical, { size, overlap }, { most, isSmallest, signal });
    if (cut !== undefined) return cut;
  }
}

/** The division with one chunk size; undefined if a chunk has too many tokens and a smaller size is possible. */
async function measuredCut(
  { countTokens, turns }: IndexTools,
  canonical: CanonicalText,
  lengths: ChunkLengths,
  { most, isSmallest, signal }: { readonly most: number; readonly isSmallest: boolean; readonly signal: AbortSignal },
): Promise<Cut | undefined> {
  const cut = { lengths, tokens: [] as number[], carried: [] as number[] };
  for (const chunk of chunkDocument(canonical, lengths)) {
    if (turns.isOver()) await turns.next();
    signal.throwIfAborted();
    const own = countTokens(chunk.text);
    const { carried, tokens } = carriedBy(canonical.title, chunk, {
      own,
      most: own + most * shareOfContext,
      countTokens,
    });
    if (!isSmallest && tokens > most) return undefined;
    cut.tokens.push(own);
    cut.carried.push(carried);
  }
  return cut;
}

/** The share of the tokens of a profile that title and heading may take from each chunk. */
const shareOfContext = 1 / 4;

/**
 * How much of its title and heading a chunk carries: both are shortened until the chunk has at most the allowed number
 * of tokens.
 * @param bounds.own tokens of the text of the chunk
 * @returns the UTF-16 units of both, and the tokens of the whole chunk
 */
function carriedBy(
  title: string | undefined,
  chunk: TextChunk,
  bounds: { readonly own: number; readonly most: number; readonly countTokens: (text: string) => number },
): { readonly carried: number; readonly tokens: number } {
  for (let carried: number = mostCarried; carried > 0; carried = Math.floor(carried / 2)) {
    const tokens = bounds.countTokens(chunkInContext(title, chunk, carried));
    if (tokens <= bounds.most) return { carried, tokens };
  }
  return { carried: 0, tokens: bounds.own };
}

/** The chunks of a measured division; each is made when it is requested. */
function* chunksOf(canonical: CanonicalText, { lengths, tokens, carried }: Cut): Generator<MeasuredChunk> {
  for (const chunk of chunkDocument(canonical, lengths)) {
    const passage = chunkInContext(canonical.title, chunk, carried[chunk.no]);
    yield { ...chunk, tokens: tokens[chunk.no] ?? 0, passage };
  }
}

function* batchesOf<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function embedChunks(
  { models, analyse, turns }: IndexTools,
  { profile, traceId, signal }: IndexWork,
  chunks: readonly MeasuredChunk[],
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
