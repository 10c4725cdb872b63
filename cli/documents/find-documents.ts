import { type Dirent, existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';

/** A file that is submitted, and the id of its document. */
export type DocumentFile = { readonly path: string; readonly docId: string };

/** A place that is not read: an unreadable folder, or a symbolic link that is not followed. */
export type LeftOut = {
  readonly path: string;
  /**
   * The id that a document at this path would have; the ids of documents below it begin with it and a slash. Empty for
   * a whole path.
   */
  readonly docId: string;
  readonly reason: string;
  /** Whether documents may be missing because of a fault, not because of a rule. */
  readonly isFault: boolean;
};

type FoundDocuments = { readonly files: readonly DocumentFile[]; readonly leftOut: readonly LeftOut[] };

/** Extensions of the formats that the command reads. */
const documentExtensions: readonly string[] = ['.md', '.markdown', '.html', '.htm', '.txt', '.pdf', '.docx'];

/**
 * The documents below the paths: of a folder all files of a known format, with their path in the folder as id; of a
 * file its name. Hidden files and folders are skipped. A symbolic link is followed if its target is a document inside
 * the same folder; all other links are left out, because a user who can write to the folder could otherwise submit
 * other files of the caller. A path or folder that cannot be read is left out. @throws CliError usage
 */
export function findDocuments(paths: readonly string[]): FoundDocuments {
  const found = paths.map(documentsAt);
  const files = found.flatMap((one) => one.files);
  const byId = Map.groupBy(files, ({ docId }) => docId);
  for (const [docId, same] of byId) {
    if (same.length === 1) continue;
    const places = same.map(({ path }) => path).join(' and ');
    throw new CliError('usage', `${places} have the same document id ${docId}: submit a folder above both.`);
  }
  const byDocId = (a: DocumentFile, b: DocumentFile): number => (a.docId < b.docId ? -1 : 1);
  return { files: files.toSorted(byDocId), leftOut: found.flatMap((one) => one.leftOut) };
}

/** Refuses a path of the command line that is absent or cannot be read. @throws CliError not_found, usage */
export function refuseUnreadable(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      if (!statSync(path).isDirectory()) continue;
      statSync(`${path}/.`);
      readdirSync(path);
    } catch (cause) {
      if (isAbsent(cause))
        throw new CliError('not_found', `There is no file or folder ${path}: check the path.`, { cause });
      throw new CliError('usage', `${path} cannot be read: ${fileReason(cause)}.`, { cause });
    }
  }
}

/** Whether the document with this id could be at a place that was not read. */
export function isLeftOut(docId: string, leftOut: readonly LeftOut[]): boolean {
  return leftOut.some(({ docId: place }) => place === '' || docId === place || docId.startsWith(`${place}/`));
}

function documentsAt(path: string): FoundDocuments {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (cause) {
    return { files: [], leftOut: [faultAt(path, '', cause)] };
  }
  if (!stats.isDirectory()) return { files: [{ path, docId: basename(path) }], leftOut: [] };
  const files: DocumentFile[] = [];
  const leftOut: LeftOut[] = [];
  const open = [{ folder: path, id: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { folder, id } = next;
    let entries: readonly Dirent[];
    try {
      // If a folder has no search permission, its names can be listed but its files cannot be read.
      statSync(`${folder}/.`);
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (cause) {
      // A folder that was removed meanwhile has no documents.
      if (id === '' || !isAbsent(cause)) leftOut.push(faultAt(folder, id, cause));
      continue;
    }
    for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
      const place = { path: join(folder, entry.name), docId: id === '' ? entry.name : `${id}/${entry.name}` };
      const reason = entry.isDirectory() || isDocument(entry.name) ? nameFault(place.path) : undefined;
      if (reason !== undefined) leftOut.push({ ...place, reason, isFault: true });
      else if (entry.isDirectory()) open.push({ folder: place.path, id: place.docId });
      else if (entry.isFile() && isDocument(entry.name)) files.push(place);
      else if (entry.isSymbolicLink()) {
        const target = targetOf(place, path);
        if (target === undefined) continue;
        if ('reason' in target) leftOut.push(target);
        else files.push(target);
      }
    }
  }
  return { files, leftOut };
}

/** A name that a terminal or the service would not show unchanged. */
function nameFault(path: string): string | undefined {
  const name = basename(path);
  if (/\p{Cc}/u.test(name)) return 'its name has control characters: rename it';
  // Node.js replaces bytes that are not UTF-8, so that the file is not found under this name.
  return name.includes('\ufffd') && !existsSync(path) ? 'its name is not valid UTF-8: rename it' : undefined;
}

/**
 * The document to which a link points, or the reason why the link is left out; undefined for a link to something else,
 * such as an image.
 */
function targetOf(link: DocumentFile, root: string): DocumentFile | LeftOut | undefined {
  const not = (reason: string): LeftOut => ({ ...link, reason, isFault: false });
  try {
    const target = realpathSync(link.path);
    const stats = statSync(target);
    if (stats.isDirectory()) return not('symbolic links to folders are not followed');
    if (!isDocument(link.path)) return undefined;
    if (!stats.isFile() || !target.startsWith(join(realpathSync(root), sep))) {
      return not('symbolic links out of the folder are not followed');
    }
    return isDocument(target) ? { path: target, docId: link.docId } : not('its symbolic link points to no document');
  } catch (cause) {
    if (!isDocument(link.path) && isAbsent(cause)) return undefined;
    return isAbsent(cause)
      ? not('the target of its symbolic link does not exist')
      : faultAt(link.path, link.docId, cause);
  }
}

function faultAt(path: string, docId: string, cause: unknown): LeftOut {
  return { path, docId, reason: fileReason(cause), isFault: true };
}

function isDocument(name: string): boolean {
  return documentExtensions.includes(extname(name).toLowerCase());
}
