import { RelationsModelError } from './relations-error.ts';
import { nameLimits } from './tuple.ts';

/** Characters that are not encoded; they have no meaning in any store. */
const plain = /^[A-Za-z0-9._~/@+=,;!$&'()-]$/;

/**
 * The subject of a user: `user:<issuer>|<sub>`, where every character except `A-Z a-z 0-9 . _ ~ / @ + = , ; ! $ & ' ( )
 * -` is percent-encoded. Different pairs have different subjects.
 * @throws RelationsModelError for a subject that is too long for a store
 */
export function userSubject({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  return subjectOf('user', issuer, subject);
}

/**
 * The subject of an agent or of a service that acts for users, encoded like the subject of a user.
 * @throws RelationsModelError for a subject that is too long for a store
 */
export function agentSubject({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  return subjectOf('agent', issuer, subject);
}

/**
 * The group that a token of an issuer names, `group:<issuer>|<name>`, encoded like a user. The same name from two
 * issuers means two groups. @throws RelationsModelError for a name that is too long for a store
 */
export function issuerGroup(issuer: string, name: string): string {
  const encoded = `group:${encodeName(issuer)}|${encodeName(name)}`;
  if (encoded.length > nameLimits.object) {
    throw new RelationsModelError('bad_object', `issuer and group are longer than ${nameLimits.object} characters`);
  }
  return encoded;
}

/** The pair that `issuerGroup` encoded; undefined for any other object. */
export function readIssuerGroup(object: string): { readonly issuer: string; readonly group: string } | undefined {
  const [, issuer, name] = /^group:([^|]+)\|([^|]+)$/.exec(object) ?? [];
  if (issuer === undefined || name === undefined) return undefined;
  try {
    const pair = { issuer: decodeURIComponent(issuer), group: decodeURIComponent(name) };
    return issuerGroup(pair.issuer, pair.group) === object ? pair : undefined;
  } catch {
    return undefined;
  }
}

function subjectOf(kind: 'user' | 'agent', issuer: string, subject: string): string {
  const encoded = `${kind}:${encodeName(issuer)}|${encodeName(subject)}`;
  if (encoded.length > nameLimits.subject) {
    throw new RelationsModelError('bad_subject', `issuer and subject are longer than ${nameLimits.subject} characters`);
  }
  return encoded;
}

type ReadSubject = { readonly issuer: string; readonly subject: string } | undefined;

/** The pair that `userSubject` encoded; undefined for any other text. */
export function readUserSubject(text: string): ReadSubject {
  return readSubject('user', text);
}

/** The pair that `agentSubject` encoded; undefined for any other text. */
export function readAgentSubject(text: string): ReadSubject {
  return readSubject('agent', text);
}

function readSubject(kind: 'user' | 'agent', text: string): ReadSubject {
  const found = /^(user|agent):([^|]*)\|([^|]*)$/.exec(text);
  if (found?.[1] !== kind || found[2] === undefined || found[3] === undefined) return undefined;
  try {
    const pair = { issuer: decodeURIComponent(found[2]), subject: decodeURIComponent(found[3]) };
    return subjectOf(kind, pair.issuer, pair.subject) === text ? pair : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Percent-encodes characters that have a meaning for stores; no encoded name contains a bar.
 * @throws RelationsModelError for text that is not well-formed
 */
export function encodeName(text: string): string {
  if (!text.isWellFormed()) throw new RelationsModelError('bad_subject', 'a name is not well-formed text');
  let encoded = '';
  for (const character of text) {
    encoded += plain.test(character) ? character : percent(character);
  }
  return encoded;
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
