import { ConfigError } from '#kit/env/config-error';
import { controlPlane } from './model.ts';
import type { Relations } from './ports.ts';
import { userSubject } from './subject.ts';

/** A user who is granted the permission to administer at the first start. */
type Administrator = { readonly issuer: string; readonly subject: string };

/**
 * Reads PORTCULLIS_ADMINISTRATORS: items `issuer|subject`. The first bar is the separator: an issuer is a URL and has none.
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

/** Grants the first administrators their permission. Nothing is revoked. */
export async function grantAdministrators(
  relations: Pick<Relations, 'grant'>,
  administrators: readonly Administrator[],
): Promise<void> {
  if (administrators.length === 0) return;
  const tuples = administrators.map((one) => ({
    subject: userSubject(one),
    relation: 'administer',
    object: controlPlane,
  }));
  await relations.grant(tuples);
}
