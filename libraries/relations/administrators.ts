import { ConfigError } from '#kit/env/config-error';
import { controlPlane } from './model.ts';
import type { Tuple } from './ports.ts';
import { userSubject } from './subject.ts';

/** A user who is granted the permission to administer at the first start. */
type Administrator = { readonly issuer: string; readonly subject: string };

/**
 * Reads PORTCULLIS_ADMINISTRATORS: items `issuer|subject`. The first bar is the separator, because an issuer is a URL
 * and contains no bar.
 * @throws ConfigError
 */
export function readAdministrators(items: readonly string[]): readonly Administrator[] {
  return items.map((item) => {
    const at = item.indexOf('|');
    if (at < 1 || at === item.length - 1) {
      throw new ConfigError(['PORTCULLIS_ADMINISTRATORS must be a list of issuer|subject, separated by commas']);
    }
    return { issuer: item.slice(0, at), subject: item.slice(at + 1) };
  });
}

/**
 * The tuples that grant the permission, without duplicates. @throws RelationsModelError for a name that is too long to
 * be stored
 */
export function administratorTuples(administrators: readonly Administrator[]): readonly Tuple[] {
  const subjects = new Set(administrators.map(userSubject));
  return [...subjects].map((subject) => ({ subject, relation: 'administer', object: controlPlane }));
}
