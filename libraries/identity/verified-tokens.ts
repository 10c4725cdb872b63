import { hash } from 'node:crypto';

/** Maximum number of tokens of one key set that are kept as verified. */
const maxTokens = 4_096;

/** The tokens whose signature one key set has verified: their SHA-256, the most recently used ones. */
export class VerifiedTokens {
  readonly #kept = new Set<string>();

  /** Whether the token was verified for these algorithms. It becomes the most recently used one. */
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
