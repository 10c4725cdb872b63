import { ConfigError } from '#kit/env/config-error';

/**
 * In development mode the services identify a person of a tenant by a header, and this API identifies a person by a
 * token of an issuer. If the names are equal, both are the same person.
 */
export type DevelopmentPersons = { readonly issuer: string; readonly tenant: string };

/**
 * Reads PORTCULLIS_DEVELOPMENT_PERSONS, `issuer|tenant`. The first bar is the separator, because an issuer is a URL and
 * contains no bar.
 * @throws ConfigError
 */
export function readDevelopmentPersons(text: string | undefined): DevelopmentPersons | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf('|');
  if (at < 1 || at === text.length - 1) {
    throw new ConfigError(['PORTCULLIS_DEVELOPMENT_PERSONS must be issuer|tenant']);
  }
  return { issuer: text.slice(0, at), tenant: text.slice(at + 1) };
}

type Person = { readonly issuer: string; readonly subject: string };

/** Whether the owner that a resource names is the subject of a token. */
export function isOwner(owner: Person, caller: Person, persons: DevelopmentPersons | undefined): boolean {
  if (owner.subject !== caller.subject) return false;
  if (owner.issuer === caller.issuer) return true;
  return persons !== undefined && caller.issuer === persons.issuer && owner.issuer === `development:${persons.tenant}`;
}
