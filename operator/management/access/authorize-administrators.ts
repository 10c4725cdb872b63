import { type Authorizer, type AuthorizerError, failure } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { Verifier } from '#identity/create-verifier';
import { readBearer } from '#identity/read-bearer';
import { RelationsModelError, RelationsUnavailableError } from '#relations/relations-error';
import type { BreakGlass } from './break-glass.ts';
import type { SubjectLimiter } from './limit-subjects.ts';
import { type ManagementCaller, managementCallerOf } from './management-caller.ts';
import type { AccessRules } from './required-right.ts';
import type { Rights } from './rights.ts';

type AccessErrorCode = Extract<
  ManagementErrorCode,
  'unauthenticated' | 'permission_denied' | 'rate_limited' | 'identity_unavailable' | 'authorization_unavailable'
>;

export type AdministratorAuthorizer = Authorizer<ManagementCaller, AccessErrorCode>;

/**
 * Accepts a valid token whose subject has the right of the operation now: either
 * control_plane:control-plane#administer, which includes every right, or a role. Every actor of the act chain (RFC
 * 8693) needs the right too. Requests of a subject beyond its limit are refused before the right is checked; the
 * emergency credential has no limit.
 */
export function createAdministratorAuthorizer(options: {
  readonly verifier: Verifier;
  readonly rights: Rights;
  readonly rules: AccessRules;
  readonly breakGlass: BreakGlass;
  readonly limiter: SubjectLimiter;
}): AdministratorAuthorizer {
  const { verifier, rights, rules, breakGlass, limiter } = options;
  return {
    async authorize(rawHeaders, asked) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') return failure('unauthenticated');
      const emergency = breakGlass.callerOf(bearer.token, asked, rawHeaders);
      if (emergency !== undefined) {
        const { caller, isAllowed } = emergency;
        return isAllowed ? { kind: 'caller', caller } : { ...failure('permission_denied'), caller };
      }
      const identity = await verifier.verify(bearer.token, asked.traceId);
      if (identity.kind === 'refusal') {
        return failure(identity.status === 503 ? 'identity_unavailable' : 'unauthenticated');
      }
      let caller: ManagementCaller | undefined;
      try {
        caller = managementCallerOf(identity);
        const cost = rules.costOf(asked.operation);
        if (!limiter.admits(caller.subject, cost, rawHeaders)) return { ...failure('rate_limited'), caller };
        if (await rights.has(caller, rules.requiredRight(asked))) return { kind: 'caller', caller };
        if (rules.ownOperations.includes(asked.operation))
          return { kind: 'caller', caller: { ...caller, ownOnly: true } };
        return { ...failure('permission_denied'), caller };
      } catch (error) {
        return caller === undefined ? refusalOf(error) : { ...refusalOf(error), caller };
      }
    },
  };
}

function refusalOf(error: unknown): AuthorizerError<ManagementCaller, AccessErrorCode> {
  // A subject that cannot be written as a relation cannot have any relation.
  if (error instanceof RelationsModelError) return failure('permission_denied');
  if (error instanceof RelationsUnavailableError) return { ...failure('authorization_unavailable'), cause: error };
  throw error;
}
