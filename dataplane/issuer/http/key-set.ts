import type { ServerResponse } from 'node:http';
import { publicKeySet, publishedKeys, readSigningKeys } from '#identity/signing-keys';
import { sendDocument } from './error-answer.ts';

/** GET /jwks.json (RFC 7517), read from the file for each request, so that a rotation needs no restart. */
export async function keySet(outgoing: ServerResponse, keyFile: string): Promise<void> {
  sendDocument(outgoing, publicKeySet(publishedKeys(await readSigningKeys(keyFile), new Date())));
}
