import { readFile } from 'node:fs/promises';
import { KeysError, keySetLimits, type PublicKeys, readPublicKeys } from './public-keys.ts';

/** Timeout of the whole answer, milliseconds. */
const fetchMs = 5_000;

/**
 * Fetches a JWKS without redirects, within the size limit and the timeout.
 * @throws KeysError
 */
export async function fetchKeys(url: URL, timeoutMs = fetchMs): Promise<PublicKeys> {
  const place = `the JWKS of ${url.host}`;
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: 'application/jwk-set+json, application/json' },
    });
    const bytes = await boundedBody(response, place);
    if (response.status !== 200) throw new KeysError(`${place} answers ${response.status}`);
    return readPublicKeys(bytes, place);
  } catch (error) {
    throw error instanceof KeysError ? error : new KeysError(`${place} cannot be fetched`, error);
  }
}

async function boundedBody(response: Response, place: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop ends the transfer.
    if (size > keySetLimits.bytes) throw new KeysError(`${place} is larger than ${keySetLimits.bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a JWKS from a mounted file. @throws KeysError */
export async function readKeysFile(path: string): Promise<PublicKeys> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new KeysError(`the JWKS ${path} cannot be read`, cause);
  }
  if (bytes.length > keySetLimits.bytes)
    throw new KeysError(`the JWKS ${path} is larger than ${keySetLimits.bytes} bytes`);
  return readPublicKeys(bytes, `the JWKS ${path}`);
}
