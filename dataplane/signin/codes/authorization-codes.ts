import { createHash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '#kit/time/clock';

/** A person who signed in, until the client redeems the code. */
type Authorization = {
  readonly subject: string;
  readonly clientId: string;
  readonly nonce: string | undefined;
  /** S256 challenge of PKCE (RFC 7636). */
  readonly challenge: string;
};

/** RFC 6749, section 4.1.2 recommends at most ten minutes. */
const lifetimeMs = 60_000;
/** A larger number of waiting codes than one machine can have. */
const mostCodes = 100;

/** Codes of the authorization code grant; each can be redeemed once, with the verifier of its challenge. */
export class AuthorizationCodes {
  readonly #waiting = new Map<string, Authorization & { readonly until: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  issue(authorization: Authorization): string {
    const code = randomBytes(32).toString('base64url');
    this.#waiting.set(code, { ...authorization, until: this.#clock.now() + lifetimeMs });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostCodes && oldest !== undefined) this.#waiting.delete(oldest);
    return code;
  }

  /**
   * Redeems a code; undefined for an unknown, used or expired code, another client or another verifier. The code counts
   * as used in any case.
   */
  redeem(code: string, proof: { readonly clientId: string; readonly verifier: string }): Authorization | undefined {
    const found = this.#waiting.get(code);
    this.#waiting.delete(code);
    if (found === undefined || found.until < this.#clock.now() || found.clientId !== proof.clientId) return undefined;
    const challenge = createHash('sha256').update(proof.verifier).digest('base64url');
    return challenge === found.challenge ? found : undefined;
  }
}
