import type { AuditAuthor } from '#contracts/audit';
import type { Identity } from '#identity/create-verifier';
import { userSubject } from '#relations/subject';

/** The verified caller of a request. */
export type ManagementCaller = {
  /** Issuer and subject in one text; equal texts mean the same subject. Idempotency keys belong to it. */
  readonly subject: string;
  readonly author: AuditAuthor & { readonly kind: 'token' };
  /** Groups of the token, each in the form of an object of the relation store. */
  readonly groups: readonly string[];
};

/** @throws RelationsModelError if issuer and subject are too long to be written as a relation */
export function managementCallerOf({ issuer, subject, actors }: Identity): ManagementCaller {
  return {
    subject: userSubject({ issuer, subject }),
    author: {
      kind: 'token',
      issuer,
      subject,
      actors: actors.map((actor) => ({ issuer: actor.issuer, subject: actor.subject })),
    },
    groups: [],
  };
}
