import type { AuditAuthor } from '#contracts/audit';
import type { Relations } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { userSubject } from '#relations/subject';
import type { RequiredRight } from './required-right.ts';

/** Whose right is asked: the subject of a token, its groups, and the actors that it names. */
type RightHolder = {
  readonly author: AuditAuthor;
  /** Objects of relations. */
  readonly groups: readonly string[];
};

export type Rights = {
  /**
   * Whether the subject and every actor have the right now. Groups of the token count for its subject only: acting for an
   * administrator grants nothing. @throws RelationsUnavailableError
   */
  has(holder: RightHolder, right: RequiredRight): Promise<boolean>;
};

export function createRights(relations: Pick<Relations, 'check'>): Rights {
  async function holds(subject: string, groups: readonly string[], { relation, objects }: RequiredRight) {
    for (const object of objects) {
      if (await relations.check(subject, relation, object, groups)) return true;
    }
    return false;
  }

  return {
    async has({ author, groups }, right) {
      if (author.kind !== 'token') return false;
      try {
        const chain = [
          { subject: userSubject(author), groups },
          ...author.actors.map((actor) => ({ subject: userSubject(actor), groups: [] })),
        ];
        const answers = await Promise.all(chain.map((one) => holds(one.subject, one.groups, right)));
        return answers.every((answer) => answer === true);
      } catch (error) {
        // A subject that cannot be written as a relation cannot have been granted one.
        if (error instanceof RelationsModelError) return false;
        throw error;
      }
    },
  };
}
