import { randomUUID } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import type { DataDirectory } from '#contracts/data-directory';
import { type FileReference, fileReferenceSchema } from '#contracts/file-reference';
import { flowLimits } from '#contracts/flow-limits';
import { mintFileReference } from '#identity/file-capability';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import type { Subject } from '#identity/identity';
import { writeAtomic } from '#kit/files/write-atomic';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';
import { fileIssuer } from '../platform/development-issuer.ts';

/** A copy of a file that one agent may read once; disposing it removes the copy. */
type HandedFile = AsyncDisposable & {
  readonly reference: FileReference;
  /** The new A2A context in which the reference holds. */
  readonly contextId: string;
};

/** @property acting the person who sends the message */
type FileUse = { readonly agentId: string; readonly acting: Subject };

const office = 'application/vnd.openxmlformats-officedocument';
/** The media types that agents read, by the ends of names. */
const mediaTypes: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.docx': `${office}.wordprocessingml.document`,
  '.xlsx': `${office}.spreadsheetml.sheet`,
};

/**
 * Copies a file to the place from which the agents of this machine read, and signs the reference to it
 * (docs/design/file-references.md).
 * @throws CliError usage, not_found
 */
export async function handOverFile(data: DataDirectory, path: string, use: FileUse): Promise<HandedFile> {
  const mediaType = mediaTypeOf(path);
  const name = nameOf(path);
  const bytes = await readBytes(path);
  const id = randomUUID();
  const facts = { id, name, mediaType, size: bytes.length, sha256: sha256Hex(bytes) };
  const file = { ...facts, owner: use.acting };
  const key = await openGatewayKeyRing(data.fileKeys).signingKey();
  const contextId = randomUUID();
  const bound = { ...use, operation: 'message:send', session: contextId };
  const reference = await mintFileReference({ ...bound, key, issuer: fileIssuer, file });
  const stored = join(data.storedFiles, id);
  const remove = async (): Promise<void> => {
    for (const one of [`${stored}.json`, stored]) await rm(one, { force: true });
  };
  try {
    await writeAtomic(stored, bytes);
    await writeAtomic(`${stored}.json`, JSON.stringify(file));
  } catch (error) {
    await remove();
    throw error;
  }
  return { reference, contextId, [Symbol.asyncDispose]: remove };
}

function mediaTypeOf(path: string): string {
  const end = extname(path).toLowerCase();
  const found = Object.hasOwn(mediaTypes, end) ? mediaTypes[end] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(mediaTypes).join(', ');
  throw new CliError('usage', `${path} has no known media type: its name must end in one of ${known}.`);
}

function nameOf(path: string): string {
  const name = fileReferenceSchema.shape.name.safeParse(basename(path));
  if (name.success) return name.data;
  throw new CliError('usage', 'The name of the file has control characters or more than 255 characters: rename it.');
}

async function readBytes(path: string): Promise<Buffer> {
  const { max } = flowLimits.manifest.fileBytes;
  try {
    const { size } = await stat(path);
    if (size > max) throw new CliError('usage', `${path} has ${size} bytes, at most ${max} are read: make it smaller.`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}.`, { cause });
    throw new CliError('usage', `${path} cannot be read: ${fileReason(cause)}.`, { cause });
  }
}
