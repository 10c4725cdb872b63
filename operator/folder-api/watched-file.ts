import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileStamp } from '#kit/files/file-stamp';
import { type Manifest, type ManifestProblem, maxManifestBytes, readManifests } from '#kube/apply/read-manifests';

/** Content of a file that was read whole. */
export type FileContent = {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly ManifestProblem[];
};

/** Result of a check of a file; `stamp` changes when the file is written or replaced. */
type FileLook =
  | { readonly state: 'vanished' }
  /** The file may still be written. */
  | { readonly state: 'unsettled' }
  | { readonly state: 'unchanged' }
  | { readonly state: 'read'; readonly stamp: string; readonly content: FileContent };

type LookOptions = {
  /** Stamp of the last check that read the file. */
  readonly known: string | undefined;
  /** Milliseconds without a change before the file is read. */
  readonly settleMs: number;
  readonly now: Date;
};

/**
 * Reads a file unless its stamp is known or the file is still being written. The returned stamp and content belong
 * together.
 */
export async function lookAtFile(path: string, options: LookOptions): Promise<FileLook> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) return { state: 'vanished' };
    const stamp = fileStamp(before);
    if (stamp === options.known) return { state: 'unchanged' };
    const changedAt = before.mtimeMs > before.ctimeMs ? before.mtimeMs : before.ctimeMs;
    const age = options.now.getTime() - Number(changedAt);
    if (Math.abs(age) < options.settleMs) return { state: 'unsettled' };
    if (before.size > BigInt(maxManifestBytes)) {
      return { state: 'read', stamp, content: refused(`the file is over ${maxManifestBytes} bytes`) };
    }
    const bytes = await file.readFile();
    if (fileStamp(await file.stat({ bigint: true })) !== stamp) return { state: 'unsettled' };
    const { resources, problems } = readManifests(bytes);
    return { state: 'read', stamp, content: { manifests: resources, problems } };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return { state: 'vanished' };
    if (code === undefined) throw error;
    if (code === options.known) return { state: 'unchanged' };
    return { state: 'read', stamp: code, content: refused(`the file cannot be read: ${code}`) };
  }
}

function refused(message: string): FileContent {
  return { manifests: [], problems: [{ document: 0, field: '', message }] };
}
