import { createHash } from 'node:crypto';
import type { ContentFetcher } from '../ports.ts';

/** A store with a canonical document at every address. */
export const documentFetcher: ContentFetcher = { fetch: async (_scope, uri) => documentAt(uri) };

/** The SHA-256 of the document at an address. */
export function fetchedHash(uri: string): string {
  return createHash('sha256').update(documentAt(uri)).digest('hex');
}

function documentAt(uri: string): Buffer {
  const sections = [{ text: `text of ${new URL(uri).pathname}` }];
  return Buffer.from(JSON.stringify({ content: { sections }, metadata: { url: 'ignored' }, text: 'ignored' }));
}
