import { hash } from 'node:crypto';

/** Maximum number of verified tokens of one key set that are kept. */
const maxTokens = 4_096;

/** The tokens whose signatures were verified with one key set: the SHA-256 of the most recently used tokens. */
export class VerifiedTokens {
  readonly #kept = new Set<string>();

  /**
   * Whether the signature of the token was verified for these algorithms. The token becomes the most recently used one.
   */
  has(token: string, algorithms: readonly string[]): boolean {
    const key = keyOf(token, algorithms);
    if (!this.#kept.delete(key)) return false;
    this.#kept.add(key);
    return true;
  }

  add(token: string, algorithms: readonly string[]): void {
    const [oldest] = this.#kept;
    if (this.#kept.size >= maxTokens && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.add(keyOf(token, algorithms));
  }
}

function keyOf(token: string, algorithms: readonly string[]): string {
  return `${algorithms.join()} ${hash('sha256', token, 'base64url')}`;
}
