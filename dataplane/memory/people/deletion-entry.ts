import { changeEntry } from '#audit/change-entry';
import type { AuditAuthor, AuditContent, ClientClass } from '#contracts/audit';
import { tenantIssuer } from '#identity/authorize-callers';
import type { TenantCaller } from '#identity/tenant-caller';
import { personDigest } from './person.ts';

type Request = { readonly caller: TenantCaller; readonly client: ClientClass; readonly traceId: string };

/**
 * The audit entry of a deletion that removes the text completely. It names the person by the digest from the record of
 * erasures, because the entry is kept when the person is erased (docs/decisions/0071).
 * @param confirmationId the confirmation id of the answer
 */
export function deletionEntry(
  action: 'memory.delete' | 'memory.erase',
  confirmationId: string,
  { caller, client, traceId }: Request,
  now: Date,
): AuditContent {
  const target = { type: 'memory', id: confirmationId } as const;
  return changeEntry({ action, target }, { author: authorOf(caller), client, traceId }, now);
}

/** The headers of development mode name a person without verification. */
function authorOf(caller: TenantCaller): AuditAuthor {
  const { tenant, user, agent } = caller;
  const digest = personDigest(caller);
  if (user.issuer === tenantIssuer(tenant)) return { kind: 'claimed', name: digest };
  const actors = agent === undefined ? [] : [{ issuer: agent.issuer, subject: agent.subject }];
  return { kind: 'token', issuer: user.issuer, subject: digest, actors };
}
