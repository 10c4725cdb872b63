import { readFileSync, statSync } from 'node:fs';

/** One file, folder or link of an image, owned by root; its path has no leading slash. */
export type Entry = { readonly path: string; readonly mode: number } & (
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly content: FileContent }
  | { readonly kind: 'link'; readonly target: string }
);

/** Path of a file of this machine, or the content itself. */
type FileContent = { readonly source: string } | { readonly bytes: Uint8Array };

export function sizeOf(content: FileContent): number {
  return 'source' in content ? statSync(content.source).size : content.bytes.length;
}

export function contentBytes(content: FileContent): Uint8Array {
  return 'source' in content ? readFileSync(content.source) : content.bytes;
}

export function folder(path: string, mode = 0o755): Entry {
  return { kind: 'folder', path, mode };
}

export function textFile(path: string, text: string, mode = 0o644): Entry {
  return { kind: 'file', path, mode, content: { bytes: Buffer.from(text) } };
}

export function copiedFile(path: string, source: string, mode = 0o644): Entry {
  return { kind: 'file', path, mode, content: { source } };
}

/**
 * Adds the parent folders of the entries, each before its first member; sorted, so that equal trees give equal lists.
 */
export function withFolders(entries: readonly Entry[]): readonly Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    const parts = entry.path.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const path = parts.slice(0, depth).join('/');
      if (!all.has(path)) all.set(path, folder(path));
    }
    all.set(entry.path, entry);
  }
  return [...all.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}
