import { InvalidArgumentError } from 'commander';
import { isName } from '#identity/validate-claims';
import { CliError } from '../errors/cli-error.ts';
import { tokenOf } from './server-options.ts';

/** The person who calls a service of the data plane. */
export type CallerOptions = {
  readonly tokenFile?: string;
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly tenant: string;
};

export const defaultTenant = 'default';

/** Headers of the caller. A token and the names of development mode are never sent together. */
export function callerIdentity({
  tokenFile,
  ...named
}: Omit<CallerOptions, 'tenant'> & { readonly tenant: string | undefined }): Identity {
  const { as, groups, tenant } = named;
  if (tokenFile !== undefined) {
    if (as === undefined && groups === undefined) {
      const token = tokenOf(tokenFile);
      return async () => ({ ...headersOfTenant(tenant), authorization: `Bearer ${await token()}` });
    }
    throw new CliError('usage', '--token-file says who calls: leave out --as and --groups.');
  }
  return headersOfPerson(
    named,
    'Name the caller: --as PERSON, or PORTCULLIS_AS, for a platform on this machine; --token-file FILE for a service that takes tokens.',
  );
}

type Identity = () => Promise<Readonly<Record<string, string>>>;
type NamedPerson = Pick<CallerOptions, 'as' | 'groups'> & { readonly tenant: string | undefined };

/**
 * Headers of the person who calls with a command that takes no token.
 * @param command words of the command
 * @throws CliError usage without a person
 */
export function personIdentity(command: string, options: NamedPerson): Identity {
  return headersOfPerson(options, `"${command}" needs the person who calls: --as PERSON, or set PORTCULLIS_AS.`);
}

function headersOfPerson({ as, groups, tenant }: NamedPerson, absent: string): Identity {
  const person = as ?? process.env['PORTCULLIS_AS'];
  if (person === undefined || !isName(person)) throw new CliError('usage', absent);
  const headers = {
    ...headersOfTenant(tenant),
    'x-user-id': headerValue(person),
    ...(groups === undefined ? {} : { 'x-groups': groups.map(headerValue).join(',') }),
  };
  return () => Promise.resolve(headers);
}

function headersOfTenant(tenant: string | undefined): Readonly<Record<string, string>> {
  return tenant === undefined ? {} : { 'x-tenant-id': headerValue(tenant) };
}

/** fetch takes header values as Latin-1; the service reads their bytes as UTF-8. */
function headerValue(name: string): string {
  return Buffer.from(name, 'utf8').toString('latin1');
}

export function readCallerName(text: string): string {
  if (isName(text) && !text.includes(',')) return text;
  throw new InvalidArgumentError('It must be a name without control characters and commas.');
}

export function readCallerNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map(readCallerName);
}
