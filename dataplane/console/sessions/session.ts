import { z } from 'zod';
import type { OwnRights } from '#contracts/rights';

const sessionSchema = z.object({
  subject: z.string(),
  /** The access token, for the APIs that pages call. */
  token: z.string(),
  /** Seconds since 1970, when the token ends, and the session with it. */
  expiresAt: z.int(),
  /** A token against request forgery, which every form sends back. */
  csrf: z.string().min(20),
  /** The rights of this person at the sign-in, or at the request once the management API has returned them. */
  rights: z.object({
    view: z.boolean(),
    author: z.boolean(),
    /** Whether the person may check definitions and texts; absent in a session of an earlier release. */
    check: z.boolean().default(false),
    apply: z.boolean(),
    administer: z.boolean(),
    /** Whether the person may read some policies, or some models; absent in a session of an earlier release. */
    readsPolicies: z.boolean().default(false),
    readsModels: z.boolean().default(false),
  }),
});

/** A signed-in person. The session is stored only in the cookie of the browser. */
export type PersonSession = z.infer<typeof sessionSchema>;

/**
 * The rights of a session, from the answer of the management API. An author of even one policy may check definitions.
 */
export function sessionRights({
  view,
  author,
  apply,
  administer,
  policies,
  viewedPolicies,
  viewedModels,
}: OwnRights): PersonSession['rights'] {
  return {
    ...{ view, author, check: author || policies.length > 0, apply, administer },
    readsPolicies: view || viewedPolicies.length > 0,
    readsModels: view || viewedModels.length > 0,
  };
}

/** The values that the return of a sign-in in progress must have. */
const attemptSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
});
export type SignInAttempt = z.infer<typeof attemptSchema>;

export function readSession(value: unknown): PersonSession | undefined {
  const read = sessionSchema.safeParse(value);
  return read.success ? read.data : undefined;
}

export function readAttempt(value: unknown): SignInAttempt | undefined {
  const read = attemptSchema.safeParse(value);
  return read.success ? read.data : undefined;
}
