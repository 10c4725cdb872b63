import { RelationsModelError } from './relations-error.ts';
import { nameLimits } from './tuple.ts';

/** Characters that are not encoded; they have no meaning in any store. */
const plain = /^[A-Za-z0-9._~/@+=,;!$&'()-]$/;

/**
 * The subject of a user: `user:<issuer>|<sub>`, where every character except
 * `A-Z a-z 0-9 . _ ~ / @ + = , ; ! $ & ' ( ) -` is percent-encoded. Different pairs have different subjects.
 * @throws RelationsModelError if it is too long for a store
 */
export function userSubject({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  const encoded = `user:${encode(issuer)}|${encode(subject)}`;
  if (encoded.length > nameLimits.subject) {
    throw new RelationsModelError('bad_subject', `issuer and subject are longer than ${nameLimits.subject} characters`);
  }
  return encoded;
}

/** The pair that `userSubject` encoded; undefined for any other text. */
export function readUserSubject(text: string): { readonly issuer: string; readonly subject: string } | undefined {
  const found = /^user:([^|]*)\|([^|]*)$/.exec(text);
  if (found?.[1] === undefined || found[2] === undefined) return undefined;
  try {
    const pair = { issuer: decodeURIComponent(found[1]), subject: decodeURIComponent(found[2]) };
    return userSubject(pair) === text ? pair : undefined;
  } catch {
    return undefined;
  }
}

function encode(text: string): string {
  if (!text.isWellFormed()) throw new RelationsModelError('bad_subject', 'issuer or subject is not well-formed text');
  let encoded = '';
  for (const character of text) {
    encoded += plain.test(character) ? character : percent(character);
  }
  return encoded;
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
