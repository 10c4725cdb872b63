import { readdirSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';

/** A file that is submitted, and the id of its document. */
export type DocumentFile = { readonly path: string; readonly docId: string };

/** Extensions of the formats that the command reads. */
const documentExtensions: readonly string[] = ['.md', '.markdown', '.html', '.htm', '.txt', '.pdf', '.docx'];

/**
 * The documents below the paths: of a folder all files of a known format, with their path in the folder as id; of a file
 * its name. Hidden files and folders are left out. @throws CliError not_found, usage
 */
export function findDocuments(paths: readonly string[]): readonly DocumentFile[] {
  const found = paths.flatMap(documentsAt);
  const byId = Map.groupBy(found, ({ docId }) => docId);
  for (const [docId, files] of byId) {
    if (files.length === 1) continue;
    const places = files.map(({ path }) => path).join(' and ');
    throw new CliError('usage', `${places} have the same document id ${docId}: submit a folder above both.`);
  }
  return found.toSorted((a, b) => (a.docId < b.docId ? -1 : 1));
}

function documentsAt(path: string): readonly DocumentFile[] {
  try {
    if (!statSync(path).isDirectory()) return [{ path, docId: basename(path) }];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isDocument(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({ path: file, docId: idIn(path, file) }))
      .filter(({ docId }) => !docId.split('/').some((part) => part.startsWith('.')));
  } catch (cause) {
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file or folder ${path}.`, { cause });
    throw new CliError('usage', `${path} cannot be read: ${fileReason(cause)}.`, { cause });
  }
}

function isDocument(name: string): boolean {
  return documentExtensions.includes(extname(name).toLowerCase());
}

function idIn(folder: string, file: string): string {
  const within = join(folder, '.', sep);
  return file.slice(within.length).split(sep).join('/');
}
