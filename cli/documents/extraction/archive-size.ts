import { fromBufferPromise } from 'yauzl';

/** Limits of an archive: expanded bytes of all files together, and number of files. */
export const archiveLimits = { bytes: 128 * 1_024 * 1_024, files: 10_000 } as const;

/**
 * Whether an archive expands within the limits; this is checked before other code reads the archive. Every file is
 * expanded and counted, because the sizes that an archive declares can be false.
 */
export async function sizeOfArchive(
  bytes: Uint8Array,
): Promise<'within' | 'expands_too_much' | 'malformed' | 'encrypted'> {
  let expanded = 0;
  let files = 0;
  try {
    const archive = await fromBufferPromise(Buffer.from(bytes), { lazyEntries: true });
    for await (const entry of archive.eachEntry()) {
      files += 1;
      if (entry.isEncrypted()) return 'encrypted';
      if (files > archiveLimits.files || expanded + entry.uncompressedSize > archiveLimits.bytes)
        return 'expands_too_much';
      for await (const chunk of await archive.openReadStreamPromise(entry)) expanded += (chunk as Buffer).length;
      if (expanded > archiveLimits.bytes) return 'expands_too_much';
    }
  } catch {
    return 'malformed';
  }
  return 'within';
}
