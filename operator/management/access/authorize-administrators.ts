import { type Authorizer, type AuthorizerError, failure } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { Identity, Verifier } from '#identity/create-verifier';
import type { Subject } from '#identity/identity';
import { readBearer } from '#identity/read-bearer';
import { controlPlane } from '#relations/model';
import type { Relations } from '#relations/ports';
import { RelationsModelError, RelationsUnavailableError } from '#relations/relations-error';
import { userSubject } from '#relations/subject';
import { type ManagementCaller, managementCallerOf } from './management-caller.ts';

type AccessErrorCode = Extract<
  ManagementErrorCode,
  'unauthenticated' | 'permission_denied' | 'identity_unavailable' | 'authorization_unavailable'
>;

export type AdministratorAuthorizer = Authorizer<ManagementCaller, AccessErrorCode>;

/**
 * Accepts a valid token whose subject has control_plane:control-plane#administer now. Every actor of the act chain
 * (RFC 8693) needs the permission too: acting for an administrator grants nothing.
 */
export function createAdministratorAuthorizer(options: {
  readonly verifier: Verifier;
  readonly relations: Pick<Relations, 'check'>;
}): AdministratorAuthorizer {
  const { verifier, relations } = options;

  async function mayAdminister(identity: Identity): Promise<boolean> {
    const chain: readonly Subject[] = [identity, ...identity.actors];
    const answers = await Promise.all(
      chain.map((subject) => relations.check(userSubject(subject), 'administer', controlPlane)),
    );
    return answers.every((answer) => answer === true);
  }

  return {
    async authorize(rawHeaders) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') return failure('unauthenticated');
      const identity = await verifier.verify(bearer.token);
      if (identity.kind === 'refusal') {
        return failure(identity.status === 503 ? 'identity_unavailable' : 'unauthenticated');
      }
      let caller: ManagementCaller | undefined;
      try {
        caller = managementCallerOf(identity);
        if (await mayAdminister(identity)) return { kind: 'caller', caller };
        return { ...failure('permission_denied'), caller };
      } catch (error) {
        return caller === undefined ? refusalOf(error) : { ...refusalOf(error), caller };
      }
    },
  };
}

function refusalOf(error: unknown): AuthorizerError<ManagementCaller, AccessErrorCode> {
  // A subject that cannot be written as a relation cannot have been granted one.
  if (error instanceof RelationsModelError) return failure('permission_denied');
  if (error instanceof RelationsUnavailableError) return failure('authorization_unavailable');
  throw error;
}
