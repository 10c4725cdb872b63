import { bytesOf, type Entry, sizeOf } from './entry.ts';

const block = 512;
const nameBytes = 100;
const prefixBytes = 155;
const types = { file: '0', link: '2', folder: '5' } as const;

function padding(size: number): number {
  return (block - (size % block)) % block;
}

/** Name and prefix of POSIX.1 ustar; a longer path has no place in it. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= nameBytes) return ['', path];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const name = path.slice(slash + 1);
    if (slash <= prefixBytes && name !== '' && Buffer.byteLength(name) <= nameBytes)
      return [path.slice(0, slash), name];
  }
  throw new Error(`the path ${path} is too long for an image`);
}

type Head = { readonly path: string; readonly mode: number; readonly size: number; readonly type: string };

function header({ path, mode, size, type }: Head, target = ''): Buffer {
  const bytes = Buffer.alloc(block);
  const [prefix, name] = splitPath(path);
  if (Buffer.byteLength(target) > nameBytes) throw new Error(`the link target ${target} is too long for an image`);
  const octal = (value: number, offset: number, length: number): void => {
    bytes.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset);
  };
  bytes.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write(type, 156);
  bytes.write(target, 157);
  bytes.write('ustar\u000000', 257);
  bytes.write(prefix, 345);
  // The sum counts its own field as blanks.
  bytes.fill(' ', 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

/** One member whose content follows: the header before it and the zeros after it. */
export function memberFrame(path: string, size: number): { readonly before: Buffer; readonly after: Buffer } {
  return { before: header({ path, mode: 0o644, size, type: types.file }), after: Buffer.alloc(padding(size)) };
}

/** Two blocks of zeros end an archive. */
export const endOfArchive = Buffer.alloc(2 * block);

/** Bytes that `tarOf` yields for these entries. */
export function tarSize(entries: readonly Entry[]): number {
  const sizes = entries.map((entry) => (entry.kind === 'file' ? sizeOf(entry.content) : 0));
  return sizes.reduce((sum, size) => sum + block + size + padding(size), endOfArchive.length);
}

/** An archive of the entries as they come: no times, no names of users, so that equal entries give equal bytes. */
export function* tarOf(entries: readonly Entry[]): Generator<Uint8Array> {
  for (const entry of entries) {
    const { path, mode } = entry;
    switch (entry.kind) {
      case 'folder':
        yield header({ path: `${path}/`, mode, size: 0, type: types.folder });
        break;
      case 'link':
        yield header({ path, mode, size: 0, type: types.link }, entry.target);
        break;
      case 'file': {
        const bytes = bytesOf(entry.content);
        yield header({ path, mode, size: bytes.length, type: types.file });
        yield bytes;
        yield Buffer.alloc(padding(bytes.length));
        break;
      }
    }
  }
  yield endOfArchive;
}
