import { open } from 'node:fs/promises';
import { limits } from '#contracts/limits';
import { BundleError } from './bundle-error.ts';

/**
 * The bytes of a bundle file: at most 716,800 (`guardrail:limits:bundle-file-size-raw`). Never reads more than one byte beyond them,
 * whatever the file says about its size.
 * @throws BundleError when the file cannot be read or is larger
 */
export async function readBundleFile(path: string): Promise<Buffer> {
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
