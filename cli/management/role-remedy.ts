import { quoteWord } from '../command-line/quote-word.ts';
import { unverifiedClaims } from '../errors/token-fault.ts';
import type { JsonRequest } from '../http/exchange-json.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { neededRole } from './needed-role.ts';

/**
 * The sentences about a request that the caller has no role for: who the token is of, and the smallest right that an
 * administrator can grant. The token is not verified: the sentences are only shown to its holder.
 */
export function roleRemedy(
  call: Pick<JsonRequest, 'method' | 'path' | 'headers'>,
  { token, tokenFile }: { readonly token: string; readonly tokenFile: string | undefined },
): string {
  const { sub, iss } = unverifiedClaims(token);
  const subject = typeof sub === 'string' ? sub : undefined;
  const issuer = typeof iss === 'string' && iss !== developmentIssuer.issuer ? ` --issuer ${quoteWord(iss)}` : '';
  const { role, of } = neededRole(call);
  const scope = of === undefined ? '' : ` ${of.option} ${quoteWord(of.id)}`;
  const command = `portcullis admin grant ${subject === undefined ? 'SUBJECT' : quoteWord(subject)}${issuer} --role ${role}${scope}`;
  const other = call.path.includes('/approvals/')
    ? ' for a command on a model, or --role author for one on a policy'
    : '';
  const file = tokenFile === undefined ? 'that the command line signed' : `in ${tokenFile}`;
  const whose = subject === undefined ? 'gives' : `is of ${JSON.stringify(subject)}, who has`;
  return `The token ${file} ${whose} no role that permits this. Ask an administrator for one: "${command}"${other}.`;
}
