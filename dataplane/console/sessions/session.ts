import { z } from 'zod';

const sessionSchema = z.object({
  subject: z.string(),
  /** The access token, for the APIs that pages call. */
  token: z.string(),
  /** Seconds since 1970, when the token ends, and the session with it. */
  expiresAt: z.int(),
  /** Every form sends it back. */
  csrf: z.string().min(20),
  /** The rights of this person at the sign-in, or at the request once the management API has told them. */
  rights: z.object({ view: z.boolean(), author: z.boolean(), apply: z.boolean(), administer: z.boolean() }),
});

/** A signed-in person. It exists in the cookie of the browser only. */
export type PersonSession = z.infer<typeof sessionSchema>;

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
