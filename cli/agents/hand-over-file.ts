import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import type { DataDirectory } from '#contracts/data-directory';
import type { FileReference } from '#contracts/file-reference';
import { mintFileReference } from '#identity/file-capability';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import type { Subject } from '#identity/identity';
import { writeAtomic } from '#kit/files/write-atomic';
import { fileIssuer } from '../platform/development-issuer.ts';
import { readGivenFile } from './read-given-file.ts';

/** A copy of a file that one agent may read once; disposing the object removes the copy. */
type HandedFile = AsyncDisposable & {
  readonly reference: FileReference;
  /** The new A2A context in which the reference holds. */
  readonly contextId: string;
};

/** @property acting the person who sends the message */
type FileUse = { readonly agentId: string; readonly acting: Subject };

/**
 * Copies a file to the folder from which the agents of this machine read, and signs a reference to the copy
 * (docs/design/file-references.md).
 * @throws CliError usage, not_found
 */
export async function handOverFile(data: DataDirectory, path: string, use: FileUse): Promise<HandedFile> {
  const { name, mediaType, bytes } = await readGivenFile(path);
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
