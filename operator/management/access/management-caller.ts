import type { AuditAuthor } from '#contracts/audit';
import type { Identity } from '#identity/create-verifier';
import { RelationsModelError } from '#relations/relations-error';
import { issuerGroup, userSubject } from '#relations/subject';

/** The verified caller of a request. */
export type ManagementCaller = {
  /** Issuer and subject in one text; equal texts mean the same subject. Idempotency keys belong to this text. */
  readonly subject: string;
  readonly author: AuditAuthor;
  /** Groups of the token, each in the form of an object of the relation store. */
  readonly groups: readonly string[];
  /** The caller lacks the right of the operation: the answer covers only its own commands, agents and policies. */
  readonly ownOnly?: true;
};

/** @throws RelationsModelError if issuer and subject are too long to be written as a relation */
export function managementCallerOf(identity: Identity): ManagementCaller {
  const { issuer, subject, actors, groups } = identity;
  return {
    subject: userSubject({ issuer, subject }),
    author: {
      kind: 'token',
      issuer,
      subject,
      actors: actors.map((actor) => ({ issuer: actor.issuer, subject: actor.subject })),
    },
    groups: groups.flatMap((name) => groupOf(issuer, name)),
  };
}

/**
 * The group as a relation; empty if its name is too long to be written as a relation, because such a group cannot have
 * a right.
 */
function groupOf(issuer: string, name: string): readonly string[] {
  try {
    return [issuerGroup(issuer, name)];
  } catch (error) {
    if (error instanceof RelationsModelError) return [];
    throw error;
  }
}
