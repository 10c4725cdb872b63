import type { JsonValue } from '#kit/json/json-value';
import { mapStrings } from '#kit/json/map-strings';
import type { LiveDocument } from '../commit/make-live.ts';
import { DocumentFault } from '../faults.ts';
import type { ClaimedJob } from '../jobs/claim-job.ts';
import { isMaskingJob } from '../jobs/masking-job.ts';
import type { DocumentScope } from '../ports.ts';
import { type CanonicalText, canonicalText } from '../text/canonical-text.ts';
import { LongTextError } from '../text/content-parts.ts';
import type { DocumentContent } from '../text/document-content.ts';
import { type JudgedDocument, textsOf, withTexts } from '../text/guarded-texts.ts';
import { storableText } from '../text/storable-text.ts';
import { type DocumentBlocks, textBlocks } from '../text/text-blocks.ts';
import type { IngestPorts } from './ingest-ports.ts';
import { instantInUtc } from './instant-in-utc.ts';
import { readDocument } from './read-document.ts';

/** A document that may be stored, before it is split into chunks. */
type PreparedDocument = Omit<LiveDocument, 'versions'> & { readonly canonical: CanonicalText };

/** Reads, judges and joins the text of a job's document. @throws DocumentFault, DependencyUnavailableError */
export async function prepareDocument(
  ports: IngestPorts,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<PreparedDocument> {
  const { blocks, metadata } = await readBlocks(ports, job, signal);
  const storable = mapStrings(metadata, storableText) as JudgedDocument['metadata'];
  const { document, policyRevision } = await judgeDocument(ports, job, { ...blocks, metadata: storable }, signal);
  await ports.onStep('guarded');
  const canonical = canonicalText(document);
  return {
    canonical,
    title: canonical.title,
    sourceUrl: textOf(document.metadata['url']),
    metadata: document.metadata,
    // Dates were validated at the submit. They are read before masking, because a masked date is not a date.
    validFrom: instantOf(metadata['valid_from']),
    validUntil: instantOf(metadata['valid_until']),
    text: canonical.text,
    ranges: canonical.ranges,
    policyRevision,
  };
}

/**
 * Only the blocks of a document leave this function: its parsed JSON takes many times its size in memory, and other
 * jobs of the worker are processed while a policy judges and a model embeds. Two contents are never parsed at the same
 * time, because parsing and splitting into blocks take one turn of the event loop.
 */
async function readBlocks(ports: IngestPorts, job: ClaimedJob, signal: AbortSignal) {
  const { content, metadata } = await readDocument(ports, job, signal);
  return { blocks: blocksOf(content, isMaskingJob(job) ? Number.POSITIVE_INFINITY : undefined), metadata };
}

function blocksOf(content: DocumentContent, mostUnits: number | undefined): DocumentBlocks {
  try {
    return textBlocks(content, mostUnits);
  } catch (error) {
    if (!(error instanceof LongTextError)) throw error;
    throw new DocumentFault('too_large', `${['content', ...error.path].join('/')} ${error.message}`);
  }
}

/**
 * Judges every text of a document. @throws DocumentFault if the document is denied, DependencyUnavailableError if it
 * cannot be judged now
 */
export async function judgeDocument(
  { guard }: Pick<IngestPorts, 'guard'>,
  { tenant, collectionId }: DocumentScope,
  document: JudgedDocument,
  signal: AbortSignal,
): Promise<{ readonly document: JudgedDocument; readonly policyRevision: string | undefined }> {
  if (guard === 'unguarded') return { document, policyRevision: undefined };
  const decision = await guard.check({ tenant, collectionId }, textsOf(document), signal);
  switch (decision.kind) {
    case 'passed': {
      const judged = withTexts(document, decision.texts);
      if (
        textsOf({ blocks: [], metadata: judged.metadata }).length <
        textsOf({ blocks: [], metadata: document.metadata }).length
      ) {
        const message = 'masks make two names of one object of the metadata equal: change the policy or the names';
        throw new DocumentFault('malformed', message);
      }
      return { document: judged, policyRevision: decision.policyRevision };
    }
    case 'denied':
      throw new DocumentFault('denied', 'the policy for documents denies the text');
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function instantOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? instantInUtc(value) : undefined;
}
