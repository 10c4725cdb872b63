import { constants } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Hex } from '#contracts/canonical';
import type { FileReference } from '#contracts/file-reference';
import { type FileCapabilityVerifier, type StoredFile, storedFileFault } from '#identity/file-capability';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { type FileAccess, FileRefusedError, FileUnavailableError } from './ports.ts';

const subject = z.strictObject({ issuer: z.string(), subject: z.string() });
const storedFileSchema = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  mediaType: z.string(),
  size: z.int().min(0),
  sha256: z.string(),
  owner: subject,
});

/** Age after which the note of a read is removed: the longest life of a capability, milliseconds. */
const readNoteMs = 86_400_000;
const sweepEveryMs = 3_600_000;

/**
 * Files of a folder that the process can write (docs/design/file-references.md, "The folder"): `files/ID.json` describes
 * `files/ID`. Each read creates a note in `reads/`, so that processes that share the folder count together. A file in
 * `revoked/` revokes a capability.
 */
export function createFolderAccess(root: string, verifier: FileCapabilityVerifier): FileAccess {
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function readStored(reference: FileReference): Promise<StoredFile> {
    const path = join(root, 'files', `${reference.fileId.toLowerCase()}.json`);
    const text = await unlessAbsent(readFile(path, 'utf8'));
    if (text === undefined) {
      await available(stat(join(root, 'files')));
      throw new FileRefusedError('file_not_found');
    }
    const stored = storedFileSchema.safeParse(jsonOrUndefined(text));
    if (!stored.success) throw new FileUnavailableError();
    return stored.data;
  }

  async function checkLive(note: string, reads: number): Promise<void> {
    if (await exists(join(root, 'revoked', note))) throw new FileRefusedError('revoked');
    if (await exists(join(root, 'reads', `${note}.${reads}`))) throw new FileRefusedError('reads_used');
  }

  /** Creates the note of the next read. A note can be created only once, by one process. */
  async function useRead(note: string, reads: number): Promise<void> {
    const folder = join(root, 'reads');
    await available(mkdir(folder, { recursive: true, mode: 0o700 }));
    if (Date.now() - sweptAt > sweepEveryMs) {
      sweptAt = Date.now();
      await removeOlder(folder, readNoteMs);
    }
    for (let read = 1; read <= reads; read += 1) {
      if (await createNote(join(folder, `${note}.${read}`))) return;
    }
    throw new FileRefusedError('reads_used');
  }

  return {
    async probe() {
      await available(access(join(root, 'files'), constants.R_OK));
      await available(access(root, constants.W_OK));
    },
    async check(reference, use) {
      const capability = await verifier.verify(reference, use);
      if (capability.kind === 'unavailable') throw new FileUnavailableError();
      if (capability.kind === 'refusal') throw new FileRefusedError(capability.code);
      const stored = await readStored(reference);
      const fault = storedFileFault(stored, reference, capability);
      if (fault !== undefined) throw new FileRefusedError(fault);
      const note = sha256Hex(Buffer.from(capability.id));
      await checkLive(note, capability.reads);
      let isOpened = false;
      return {
        mediaType: stored.mediaType,
        size: stored.size,
        sha256: stored.sha256,
        async open(signal) {
          if (isOpened || Date.now() >= capability.expiresAt.getTime()) {
            throw new FileRefusedError(isOpened ? 'reads_used' : 'expired');
          }
          isOpened = true;
          await checkLive(note, capability.reads);
          await useRead(note, capability.reads);
          // A symbolic link could point out of the folder.
          const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
          const file = await available(open(join(root, 'files', stored.id), flags));
          return file.createReadStream({ signal });
        },
      };
    },
  };
}

/** @returns whether the note is new */
async function createNote(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new FileUnavailableError();
  }
}

/** Removes the files of a folder that were changed before `ageMs`. A file that cannot be removed stays. */
export async function removeOlder(folder: string, ageMs: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs >= ageMs)
      await rm(path, { force: true }).catch(() => undefined);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await unlessAbsent(access(path).then(() => true))) ?? false;
}

/** @throws FileUnavailableError if the work fails for another reason than an absent file */
async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new FileUnavailableError();
  }
}

async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch {
    throw new FileUnavailableError();
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
