import { createHash } from 'node:crypto';
import { hasMediaType } from '#flow/files/media-types';
import { withTimeout } from '#kit/concurrency/abort';
import { FileRefusedError, FileUnavailableError, type GrantedFile } from './ports.ts';

/** The bytes of a file are not those that its reference describes. */
export class FileContentError extends Error {
  readonly code: 'content_size_wrong' | 'content_hash_wrong' | 'content_type_wrong';

  constructor(code: FileContentError['code']) {
    super(`the content of the file is refused: ${code}`);
    this.name = 'FileContentError';
    this.code = code;
  }
}

/**
 * Reads a file whose capability is valid, within its size and within `readMs` milliseconds
 * (`fileref:adapter:size-bound`,
 * `fileref:adapter:time-bound`), and compares its bytes with the granted size, hash and media type.
 * @throws FileRefusedError, FileUnavailableError, FileContentError
 */
export async function readGrantedFile(file: GrantedFile, readMs: number, signal: AbortSignal): Promise<Buffer> {
  using deadline = withTimeout(signal, readMs);
  const bytes = await bytesOf(file, deadline.signal, signal);
  if (bytes === undefined) throw new FileContentError('content_size_wrong');
  if (createHash('sha256').update(bytes).digest('hex') !== file.sha256)
    throw new FileContentError('content_hash_wrong');
  if (!hasMediaType(bytes, file.mediaType)) throw new FileContentError('content_type_wrong');
  return bytes;
}

async function bytesOf(file: GrantedFile, reading: AbortSignal, signal: AbortSignal): Promise<Buffer | undefined> {
  const late = Promise.withResolvers<never>();
  const onAbort = (): void => late.reject(new FileUnavailableError());
  reading.addEventListener('abort', onAbort, { once: true });
  try {
    const read = async (): Promise<Buffer | undefined> => readWhole(await file.open(reading), file.size);
    // An adapter that ignores its signal must not block the call.
    return await Promise.race([read(), late.promise]);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof FileRefusedError ? error : new FileUnavailableError();
  } finally {
    reading.removeEventListener('abort', onAbort);
  }
}

/**
 * Reads a stream of this size into one buffer, so that its bytes are in memory only once; undefined if the stream has
 * more or fewer bytes.
 */
async function readWhole(chunks: AsyncIterable<Uint8Array>, size: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for await (const chunk of chunks) {
    if (length + chunk.length > size) return undefined;
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return length === size ? bytes : undefined;
}
