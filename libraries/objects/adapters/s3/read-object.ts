import type { IncomingMessage } from 'node:http';
import { ObjectsUnavailableError, ObjectTooLargeError } from '../../objects-error.ts';
import type { S3Client } from './s3-client.ts';
import { isNoSuchKey, unavailable } from './s3-fault.ts';

type ObjectPlace = { readonly bucket: string; readonly key: string };
type ReadLimits = { readonly maxBytes: number; readonly signal?: AbortSignal };

/**
 * The bytes of an object; undefined if it is absent.
 * @throws ObjectTooLargeError before the object is read
 * @throws ObjectsUnavailableError, even when the signal is aborted
 */
export async function readObject(
  client: S3Client,
  { bucket, key }: ObjectPlace,
  { maxBytes, signal }: ReadLimits,
): Promise<Uint8Array | undefined> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new ObjectsUnavailableError('unreachable'));
  // If the read has already ended, no other handler receives the rejection.
  ended.promise.catch(() => undefined);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    return await Promise.race([read(client, { bucket, key }, maxBytes, signal), ended.promise]);
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

async function read(
  client: S3Client,
  { bucket, key }: ObjectPlace,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let answer: IncomingMessage | undefined;
  try {
    answer = (await (await client.current()).getObject(bucket, key)) as IncomingMessage;
    // The package does not support signals. The caller has been rejected already; this ends the transfer.
    const stop = (): void => void answer?.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    return await bodyOf(answer, maxBytes);
  } catch (error) {
    if (isNoSuchKey(error)) return undefined;
    throw error instanceof ObjectTooLargeError ? error : unavailable(error);
  } finally {
    answer?.destroy();
  }
}

async function bodyOf(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw new ObjectTooLargeError(maxBytes);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBytes) throw new ObjectTooLargeError(maxBytes);
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}
