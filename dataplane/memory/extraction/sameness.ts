import { createHash } from 'node:crypto';

/** A digest that is equal for texts that differ only in case, blanks, punctuation and added dates. */
export function samenessOf(text: string): string {
  const plain = text
    .replace(/ \((?:week of )?\d{4}(?:-\d{2}){0,2}\)/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  // A text of punctuation only is its own digest; otherwise all such texts would be equal.
  return createHash('sha256')
    .update(plain === '' ? text : plain)
    .digest('hex');
}

/** The digest of exactly this text, as records show it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
