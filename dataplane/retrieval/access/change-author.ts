import { createHash } from 'node:crypto';
import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import type { AuditAuthor, AuditContent } from '#contracts/audit';
import { tenantIssuer } from '#identity/authorize-callers';
import type { Subject } from '#identity/identity';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Tuple } from '#relations/ports';
import { tupleText } from '#relations/tuple';
import type { TransactionSql } from '#sql/connect';

/** The holder of the service token, which acts for resources. */
export const operatorAuthor = { kind: 'service', name: 'operator' } as const satisfies AuditAuthor;

/** Adds audit entries, as the last statement of the transaction that makes the changes. */
export type Note<Changed = void> = (sql: TransactionSql, changed: Changed) => Promise<void>;

/** The audit entries of the tuples that a new collection begins with. */
export function grantEntries(tuples: readonly Tuple[], by: ChangeAuthor, now: Date): readonly AuditContent[] {
  return tuples.map((tuple) => changeEntry({ action: 'relation.grant', target: tupleTarget(tuple) }, by, now));
}

/** The target of a grant or a revocation: the tuple, `object#relation@subject`. */
export function tupleTarget(tuple: Tuple): AuditContent['target'] {
  const type = tuple.object.startsWith('group:') ? 'group' : 'collection';
  return { type, id: tupleText(tuple) };
}

/** The headers of development mode name a person without verification. */
export function authorOf({ tenant, user, agent }: TenantCaller): AuditAuthor {
  if (user.issuer === tenantIssuer(tenant)) return { kind: 'claimed', name: bounded(user.subject, nameLimits.claimed) };
  return { kind: 'token', ...named(user), actors: agent === undefined ? [] : [named(agent)] };
}

/** The lengths of the form of an entry. */
const nameLimits = { claimed: 512, token: 255 } as const;

function named({ issuer, subject }: Subject): Subject {
  return { issuer: bounded(issuer, nameLimits.token), subject: bounded(subject, nameLimits.token) };
}

/** A shortened name could equal the name of another person; a digest cannot. */
function bounded(name: string, most: number): string {
  return name.length <= most ? name : `sha256:${createHash('sha256').update(name).digest('hex')}`;
}
