import { open } from 'node:fs/promises';
import type { Bundle } from '#contracts/bundle';
import { limits } from '#contracts/limits';
import { BundleError, refusedBundle } from './bundle-error.ts';
import { compileBundle } from './compile-bundle.ts';
import type { AskOf } from './compile-section.ts';
import type { LoadedBundle } from './loaded-bundle.ts';
import { parseBundle } from './parse-bundle.ts';

/**
 * Reads, compiles and admits the bundle of this process. `connect` is called once, with a bundle of the right shape.
 * @throws BundleError with the reason
 */
export async function loadBundle(path: string, connect: (bundle: Bundle) => AskOf): Promise<LoadedBundle> {
  const reading = parseBundle(await readBundleFile(path));
  if (!reading.ok) throw refusedBundle(reading.problems);
  const compilation = compileBundle(reading, connect(reading.bundle));
  if (!compilation.ok) throw refusedBundle(compilation.problems);
  return compilation.loaded;
}

/**
 * Reads a bundle file of at most 716,800 bytes (`guardrail:limits:bundle-file-size-raw`). At most one byte more is
 * read, whatever size the file system reports.
 * @throws BundleError when the file cannot be read or is larger
 */
async function readBundleFile(path: string): Promise<Buffer> {
  const bytes = Buffer.alloc(limits.bundleBytes + 1);
  const length = await fill(path, bytes);
  if (length > limits.bundleBytes) {
    throw new BundleError('bundle_invalid', `the bundle file is larger than ${limits.bundleBytes} bytes`);
  }
  return bytes.subarray(0, length);
}

async function fill(path: string, bytes: Buffer): Promise<number> {
  try {
    await using file = await open(path, 'r');
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return length;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new BundleError('bundle_unreadable', `the bundle file cannot be read${code}`);
  }
}
