import { readToken } from '#identity/read-token';
import { actorsOf } from '#identity/validate-claims';

/** The issuer and the subject in one text; equal texts mean the same person or agent. */
export function personKey({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  return JSON.stringify([issuer, subject]);
}

/**
 * The person of an access token and everyone who acts for the person, by `personKey`. The signature is not verified:
 * the result only selects the parts that a page offers, and the APIs verify each token. Empty for a token that cannot
 * be read.
 */
export function peopleOfToken(token: string): ReadonlySet<string> {
  const read = readToken(token);
  if (read.kind !== 'token') return new Set();
  const { iss: issuer, sub: subject } = read.claims;
  if (typeof issuer !== 'string' || typeof subject !== 'string') return new Set();
  const actors = actorsOf(read.claims, issuer);
  return new Set([{ issuer, subject }, ...(typeof actors === 'string' ? [] : actors)].map(personKey));
}
