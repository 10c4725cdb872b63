import type { Identity, Verifier } from '#identity/create-verifier';
import type { Subject } from '#identity/identity';
import { readBearer } from '#identity/read-bearer';
import { controlPlane } from '#relations/model';
import type { Relations } from '#relations/ports';
import { RelationsModelError, RelationsUnavailableError } from '#relations/relations-error';
import { userSubject } from '#relations/subject';
import type { Access, Admission } from '../http/access.ts';

/**
 * Lets in whose token is valid and who may administer now. Where somebody acts for another one, each of the chain needs
 * the right: to act for an administrator makes nobody one (document 3, section 5).
 */
export function createAccess(options: {
  readonly verifier: Verifier;
  readonly relations: Pick<Relations, 'check'>;
}): Access {
  const { verifier, relations } = options;

  async function mayAdminister(identity: Identity): Promise<boolean> {
    const chain: readonly Subject[] = [identity, ...identity.actors];
    const answers = await Promise.all(
      chain.map((subject) => relations.check(userSubject(subject), 'administer', controlPlane)),
    );
    return answers.every((answer) => answer === true);
  }

  return {
    async admit(rawHeaders): Promise<Admission> {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') return { ok: false, code: 'unauthenticated' };
      const identity = await verifier.verify(bearer.token);
      if (identity.kind === 'refusal') {
        return { ok: false, code: identity.status === 503 ? 'identity_unavailable' : 'unauthenticated' };
      }
      try {
        if (!(await mayAdminister(identity))) return { ok: false, code: 'permission_denied' };
        return { ok: true, subject: userSubject(identity) };
      } catch (error) {
        // A subject that no relation can name has no right.
        if (error instanceof RelationsModelError) return { ok: false, code: 'permission_denied' };
        if (!(error instanceof RelationsUnavailableError)) throw error;
        return { ok: false, code: 'authorization_unavailable' };
      }
    },
  };
}
