import { quoteWord } from '../command-line/quote-word.ts';
import { unverifiedClaims } from '../errors/token-fault.ts';
import type { JsonRequest } from '../http/exchange-json.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { type NeededRole, neededRole } from './needed-role.ts';

type Subject = { readonly name: string; readonly issuer: unknown };

/**
 * The sentences about a request that the caller has no role for: the owner of the token, and the smallest right that an
 * administrator can grant. The token is not verified: the sentences are only shown to its holder.
 */
export function roleRemedy(
  call: Pick<JsonRequest, 'method' | 'path' | 'headers'>,
  { token, tokenFile }: { readonly token: string; readonly tokenFile: string | undefined },
): string {
  const file = `The token ${tokenFile === undefined ? 'that the command line signed' : `in ${tokenFile}`}`;
  const [person, ...actors] = subjectsOf(token);
  if (person === undefined) {
    return `${file} names no person, so that no role can be granted. The emergency credential permits only "admin" and "audit" commands: use the token of a person.`;
  }
  const grants = [person, ...actors].map((one) => grantsOf(one, call)).join('; ');
  const name = JSON.stringify(person.name);
  if (actors.length === 0) {
    return `${file} belongs to ${name}, who has no role that permits this. Ask an administrator for a role: ${grants}.`;
  }
  const names = actors.map((one) => JSON.stringify(one.name)).join(', ');
  return `${file} belongs to ${name}, and ${names} ${actors.length === 1 ? 'acts' : 'act'} for this person. Each of them needs a role that permits this, and not all of them have one. Ask an administrator: ${grants}.`;
}

/** The commands that grant a subject one of the roles that can permit the request. */
function grantsOf({ name, issuer }: Subject, call: Pick<JsonRequest, 'method' | 'path' | 'headers'>): string {
  const from =
    typeof issuer === 'string' && issuer !== developmentIssuer.issuer ? ` --issuer ${quoteWord(issuer)}` : '';
  const grant = ({ role, of }: NeededRole): string => {
    const scope = of === undefined ? '' : ` ${of.option} ${quoteWord(of.id ?? of.option.slice(2).toUpperCase())}`;
    return `"portcullis admin grant ${quoteWord(name)}${from} --role ${role}${scope}"`;
  };
  const needed = grant(neededRole(call));
  if (!call.path.includes('/approvals/')) return needed;
  const ofPolicy = grant({ role: 'author', of: { option: '--policy' } });
  return `${needed} for a command on a model, or ${ofPolicy} for one on a policy`;
}

/**
 * The person of a token and the actors of its act chain (RFC 8693), each of whom needs the right; empty for a token
 * without a person.
 */
function subjectsOf(token: string): readonly Subject[] {
  const { sub, iss, act } = unverifiedClaims(token);
  if (typeof sub !== 'string') return [];
  const subjects: Subject[] = [{ name: sub, issuer: iss }];
  for (let actor = act; typeof actor === 'object' && actor !== null; ) {
    const claims: { readonly sub?: unknown; readonly iss?: unknown; readonly act?: unknown } = actor;
    if (typeof claims.sub === 'string') subjects.push({ name: claims.sub, issuer: claims.iss ?? iss });
    actor = claims.act;
  }
  return subjects;
}
