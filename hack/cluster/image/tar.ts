import { Header, type HeaderData } from 'tar';
import { contentBytes, type Entry, sizeOf } from './entry.ts';

const block = 512;

function padding(size: number): number {
  return (block - (size % block)) % block;
}

/** A POSIX.1 ustar header, owned by root. A value that does not fit into its field is refused instead of truncated. */
function header(data: HeaderData): Uint8Array {
  const bytes = Buffer.alloc(block);
  const isCut = new Header({ ...data, uid: 0, gid: 0, mtime: new Date(0) }).encode(bytes);
  if (isCut)
    throw new Error(`the path ${data.path} or its link target is too long or not ASCII, which an image cannot hold`);
  return bytes;
}

/** The header before the content of a tar member, and the zeros that pad it. */
export function memberFrame(
  path: string,
  size: number,
  mode = 0o644,
): { readonly before: Uint8Array; readonly after: Uint8Array } {
  return { before: header({ path, mode, size, type: 'File' }), after: Buffer.alloc(padding(size)) };
}

/** Two blocks of zeros end an archive. */
export const endOfArchive = Buffer.alloc(2 * block);

/** Size in bytes of the archive that `tarOf` creates for these entries. */
export function tarSize(entries: readonly Entry[]): number {
  const sizes = entries.map((entry) => (entry.kind === 'file' ? sizeOf(entry.content) : 0));
  return sizes.reduce((sum, size) => sum + block + size + padding(size), endOfArchive.length);
}

/**
 * A tar archive of the entries in their order, without times and user names, so that equal entries give equal bytes.
 */
export function* tarOf(entries: readonly Entry[]): Generator<Uint8Array> {
  for (const entry of entries) {
    const { path, mode } = entry;
    switch (entry.kind) {
      case 'folder':
        yield header({ path: `${path}/`, mode, size: 0, type: 'Directory' });
        break;
      case 'link':
        yield header({ path, mode, size: 0, type: 'SymbolicLink', linkpath: entry.target });
        break;
      case 'file': {
        const bytes = contentBytes(entry.content);
        const { before, after } = memberFrame(path, bytes.length, mode);
        yield* [before, bytes, after];
        break;
      }
    }
  }
  yield endOfArchive;
}
