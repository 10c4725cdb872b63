import { RelationsModelError } from './relations-error.ts';
import { nameLimits } from './tuple.ts';

/** Characters of an issuer or subject that stand for themselves; no store gives them a meaning. */
const plain = /^[A-Za-z0-9._~/@+=,;!$&'()-]$/;

/**
 * The subject of a user of an issuer: `user:<issuer>|<sub>`, each percent-encoded where a character is none of
 * `A-Z a-z 0-9 . _ ~ / @ + = , ; ! $ & ' ( ) -`. Two pairs never have one encoding, and people can read it.
 * @throws RelationsModelError where it would be longer than a store takes
 */
export function userSubject({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  const encoded = `user:${encode(issuer)}|${encode(subject)}`;
  if (encoded.length > nameLimits.subject) {
    throw new RelationsModelError('bad_subject', `issuer and subject are longer than ${nameLimits.subject} characters`);
  }
  return encoded;
}

/** The pair that `userSubject` made a subject of; undefined where it is none. */
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
  if (!text.isWellFormed()) throw new RelationsModelError('bad_subject', 'issuer or subject is no well-formed text');
  let encoded = '';
  for (const character of text) {
    encoded += plain.test(character) ? character : percent(character);
  }
  return encoded;
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
