import type { EntryBlock, EntryScope, IndexEntry } from '../ports.ts';
import { packEntries } from './pack-entries.ts';

/** Packs entries that are in memory. */
export function blockOf(entries: readonly IndexEntry[]): EntryBlock {
  return {
    packed: packEntries(entries),
    scopeOf: (at) => scopeOf(entries[at] as IndexEntry),
    scopeBytes: entries.reduce((sum, entry) => sum + bytesOf(entry), 0),
  };
}

/** The object has neither the terms nor the vector, which would otherwise stay in memory with it. */
function scopeOf({ group, labels, attributes }: IndexEntry): EntryScope {
  return { group, labels, attributes };
}

/** A value takes about 16 bytes in addition to its text. */
function bytesOf({ labels, attributes }: EntryScope): number {
  const values = [...labels, ...Object.keys(attributes), ...Object.values(attributes).flat()];
  return values.reduce<number>((sum, value) => sum + 16 + (typeof value === 'string' ? 2 * value.length : 0), 0);
}
