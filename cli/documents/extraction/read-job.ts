import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { arrayBuffer } from 'node:stream/consumers';
import { retrievalLimits } from '#contracts/retrieval';
import type { DocumentText } from './document-text.ts';
import { extractText, isKnownFormat } from './extract-text.ts';
import type { ReadJob, ReadJobAnswer } from './read-answer.ts';

export async function readJob(job: ReadJob): Promise<ReadJobAnswer> {
  const bytes = await bytesOf(job);
  if (!(bytes instanceof Uint8Array)) return bytes;
  // A parser may take the bytes over.
  const contentHash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const extraction = await extractText(job.path, bytes);
  if (extraction.kind === 'fault') return extraction;
  if (!fitsInline(extraction.document)) return { kind: 'fault', fault: 'text_too_large' };
  return { ...extraction, contentHash };
}

/** The bytes of a file of a known format, or the reason for which the file was not read. */
async function bytesOf({ path, fileBytes }: ReadJob): Promise<Uint8Array | ReadJobAnswer> {
  if (!isKnownFormat(path)) return { kind: 'fault', fault: 'unsupported' };
  try {
    await using file = await open(path);
    // A file can grow while it is read, and the size of a device is not known.
    const bytes = new Uint8Array(await arrayBuffer(file.createReadStream({ end: fileBytes })));
    return bytes.length > fileBytes ? { kind: 'fault', fault: 'file_too_large' } : bytes;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { kind: 'unreadable', code: String(error.code) };
    throw error;
  }
}

/** Whether the inline content of a document is within the limit of the service. */
function fitsInline(content: DocumentText): boolean {
  const { inlineBytes, sections } = retrievalLimits;
  if (content.sections.length > sections) return false;
  const units = content.sections.reduce((sum, { heading = '', text }) => sum + heading.length + text.length, 0);
  // JSON of a text that is many times too large would take the memory of the process.
  return units <= inlineBytes && Buffer.byteLength(JSON.stringify(content)) <= inlineBytes;
}
