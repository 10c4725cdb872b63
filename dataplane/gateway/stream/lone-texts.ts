import { createHash } from 'node:crypto';
import { bytesPerValue, textMemory } from '../chat/text-bounds.ts';
import type { CheckLimits } from '../judged/call-texts.ts';
import { piecesOfText } from '../judged/pieces-of-text.ts';
import type { WaitingText } from './check-together.ts';

/** Number of texts that are kept in memory; a text that is no longer kept is judged again when it is repeated. */
const maxKnown = 4_096;
/** Characters of the texts of the last frame that are kept, because a digest costs more than a comparison in each frame. */
const lastCharacters = 65_536;

/**
 * Texts of frames that are judged separately, in addition to the window that contains them together with other texts:
 * as a whole, or in windows if a text is larger than a check. A repeated text, such as a list of sources that a
 * provider repeats in each frame, is judged once.
 */
export class LoneTexts {
  /** The texts of the next checks, in their order: each text as a whole, or its windows. */
  readonly #waiting = new Set<{ readonly text: string }>();
  /** Digests of texts that wait or have passed. A frame with a waiting text is sent after that text has passed. */
  readonly #known = new Set<string>();
  /** Digests of further texts that wait. */
  readonly #unknown = new Set<string>();
  /** The texts of the last frame that had some: they wait or have passed. */
  #last: ReadonlySet<string> = new Set();
  #heldBytes = 0;
  #lastBytes = 0;
  #passed = 0;

  add(texts: readonly string[], { maxBodyBytes }: CheckLimits): void {
    if (texts.length === 0) return;
    const unique = new Set(texts);
    for (const text of unique) {
      if (this.#last.has(text)) continue;
      const digest = digestOf(text);
      if (this.#known.has(digest) || this.#unknown.has(digest)) continue;
      (this.#known.size < maxKnown ? this.#known : this.#unknown).add(digest);
      const pieces = piecesOfText({ role: 'assistant', content: text }, maxBodyBytes);
      for (const piece of pieces) this.#waiting.add({ text: piece });
      this.#heldBytes += textMemory(pieces);
    }
    const characters = unique.values().reduce((sum, { length }) => sum + length, 0);
    this.#last = characters <= lastCharacters ? unique : new Set();
    this.#lastBytes = textMemory([...this.#last]);
  }

  /** The number of texts of the next checks. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The number of texts so far, and how many of them have passed. Texts pass in their order. */
  get end(): number {
    return this.#passed + this.#waiting.size;
  }

  get passedEnd(): number {
    return this.#passed;
  }

  /** Memory of the texts that are still to be judged, of those of the last frame, and of the digests, bytes. */
  get heldBytes(): number {
    return this.#heldBytes + this.#lastBytes + (this.#known.size + this.#unknown.size) * bytesPerValue;
  }

  /** The first texts that are still to be judged. Texts pass in their order. */
  next(most: number): readonly WaitingText[] {
    return [...this.#waiting.values().take(most)].map((one) => ({ text: one.text, pass: () => this.#pass(one) }));
  }

  #pass(one: { readonly text: string }): void {
    this.#waiting.delete(one);
    this.#passed += 1;
    this.#heldBytes -= textMemory([one.text]);
    if (this.#waiting.size === 0) this.#unknown.clear();
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
