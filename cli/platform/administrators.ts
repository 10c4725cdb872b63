import { userInfo } from 'node:os';
import { defaultTenant } from '../http/caller-options.ts';
import { developmentIssuer } from './development-issuer.ts';

/** A name that can occur in a list of administrators: no comma, bar or space. */
const plainName = /^[^\s,|]{1,128}$/;
const namelessUser = 'local';
/** The owner of the example collection, whom the retrieval service identifies by headers; administers its groups. */
export const examplePerson = 'ann';

/**
 * The first administrators as `issuer|subject`: those in PORTCULLIS_ADMINISTRATORS, in which an item without a bar is a
 * subject of the development issuer; if it is not set, the user who starts the platform, and the person of the
 * examples.
 */
export function firstAdministrators(
  listed: string | undefined = process.env['PORTCULLIS_ADMINISTRATORS'],
): readonly string[] {
  const items = (listed ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const given = items.length === 0 ? [localUser(), `development:${defaultTenant}|${examplePerson}`] : items;
  return given.map((item) => (item.includes('|') ? item : `${developmentIssuer.issuer}|${item}`));
}

/** The first administrator whose tokens the development issuer signs; undefined when all belong to other issuers. */
export function firstSubject(administrators: readonly string[]): string | undefined {
  const prefix = `${developmentIssuer.issuer}|`;
  return administrators.find((item) => item.startsWith(prefix))?.slice(prefix.length);
}

/** A process without a user name, as in some containers, still gets an administrator. */
function localUser(): string {
  try {
    const { username } = userInfo();
    return plainName.test(username) ? username : namelessUser;
  } catch {
    return namelessUser;
  }
}
