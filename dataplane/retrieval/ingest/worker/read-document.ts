import { createHash } from 'node:crypto';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { ObjectTooLargeError } from '#objects/objects-error';
import { DocumentFault } from '../faults.ts';
import type { ClaimedJob } from '../jobs/claim-job.ts';
import { isMaskingJob } from '../jobs/masking-job.ts';
import type { StagedDocument } from '../submit/staged-document.ts';
import type { DocumentContent, JsonObject } from '../text/document-content.ts';
import { readContent } from '../text/read-content.ts';
import type { IngestPorts } from './ingest-ports.ts';

/** Largest content that is read, inline or fetched, in bytes. */
const mostContentBytes = 64 * 1_024 * 1_024;
/** Maximum number of values of one content: in memory, a value takes many times its encoded size. */
const mostValues = 1_000_000;

type ReadDocument = { readonly content: DocumentContent; readonly metadata: JsonObject };

/**
 * Reads the staged document of a job, and the content that its content_ref names.
 * @throws DocumentFault, DependencyUnavailableError, ObjectsUnavailableError
 */
export async function readDocument(ports: IngestPorts, job: ClaimedJob, signal: AbortSignal): Promise<ReadDocument> {
  const staged = await readStaged(ports, job);
  await ports.onStep('read');
  const content = staged.content_ref === undefined ? staged.content : await fetchContent(ports, job, staged, signal);
  const reading = readContent(content, isMaskingJob(job) ? Number.POSITIVE_INFINITY : undefined);
  if (reading.kind === 'content') return { content: reading.content, metadata: staged.metadata ?? {} };
  throw new DocumentFault('malformed', `content${reading.path} ${reading.message}`);
}

async function readStaged({ objects }: IngestPorts, { payloadKey }: ClaimedJob): Promise<StagedDocument> {
  const bytes =
    payloadKey === null ? undefined : await objects.get(payloadKey, { maxBytes: mostContentBytes }).catch(tooLarge);
  if (bytes === undefined) {
    const message = 'the staged document is not there: submit the document with another idempotency_key';
    throw new DocumentFault('content_absent', message);
  }
  return parsed(bytes, 'the staged document') as StagedDocument;
}

function tooLarge(error: unknown): never {
  if (!(error instanceof ObjectTooLargeError)) throw error;
  throw new DocumentFault('too_large', `the content is larger than ${error.maxBytes} bytes: divide the document`);
}

async function fetchContent(
  { fetcher, onStep }: IngestPorts,
  job: ClaimedJob,
  { content_ref }: StagedDocument,
  signal: AbortSignal,
): Promise<JsonValue | undefined> {
  const scope = { tenant: job.tenant, collectionId: job.collectionId };
  const bytes = await fetcher.fetch(scope, content_ref?.uri as string, { maxBytes: mostContentBytes, signal });
  const expected = job.contentHash.replace(/^sha256:/, '').toLowerCase();
  if (createHash('sha256').update(bytes).digest('hex') !== expected) {
    const message =
      'the bytes of content_ref have another SHA-256 than content_hash: submit the document with its hash';
    throw new DocumentFault('hash_mismatch', message);
  }
  await onStep('fetched');
  const value = parsed(bytes, 'the document of content_ref');
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? value['content'] : undefined;
}

function parsed(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseStrict(bytes, { maxValues: mostValues });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new DocumentFault('malformed', `${what} is not JSON: ${error.fault} at byte ${error.offset}`);
  }
}
