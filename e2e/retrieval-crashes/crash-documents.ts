import { createHash } from 'node:crypto';

/** One submit of a document, identified by its number: the same number is always the same submit. */
export type CrashSubmit = { readonly docId: string; readonly n: number };

type CrashDocument = {
  readonly op: 'upsert' | 'delete';
  readonly text: string;
  /** Whether the content comes from an address instead of the submit. */
  readonly isFetched: boolean;
  readonly contentHash: string;
};

/** A word that makes the models refuse a text. */
export const poison = 'poison';

/** The prefix of the ids of documents whose submits are all fetched and refused. */
export const refusedPrefix = 'r';

/** Upserts of different lengths, some of them fetched or refused, and deletes. */
export function crashDocument({ docId, n }: CrashSubmit): CrashDocument {
  const isRefused = docId.startsWith(refusedPrefix);
  if (n % 6 === 0 && !isRefused) return { op: 'delete', text: '', isFetched: false, contentHash: 'none' };
  const word = n % 31 === 0 || isRefused ? poison : `version-${n}`;
  const text = Array.from({ length: 1 + (n % 40) }, (_, at) => `${docId} ${word} ${at}.`).join(' ');
  const isFetched = n % 7 === 0 || isRefused;
  const bytes = isFetched ? fetchedBytes(text) : Buffer.from(text);
  return { op: 'upsert', text, isFetched, contentHash: createHash('sha256').update(bytes).digest('hex') };
}

/** The canonical document at an address of `addressOf`. */
export function fetchedBytes(text: string): Buffer {
  return Buffer.from(JSON.stringify({ content: { sections: [{ text }] } }));
}

export function addressOf(text: string): string {
  return `https://documents.example/${encodeURIComponent(text)}`;
}

export function textAt(address: string): string {
  return decodeURIComponent(new URL(address).pathname.slice(1));
}
