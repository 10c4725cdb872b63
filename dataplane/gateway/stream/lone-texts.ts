import { createHash } from 'node:crypto';
import { textMemory } from '../chat/text-bounds.ts';
import type { WaitingText } from './check-together.ts';

/** So many texts that have passed are known again; one more is judged again when it comes again. */
const maxKnown = 4_096;

/**
 * Texts of frames that are judged each alone, beside the window that has them together with others. A text that comes again,
 * as a list of sources that a provider repeats in each frame, is judged once.
 */
export class LoneTexts {
  readonly #waiting = new Set<string>();
  readonly #known = new Set<string>();
  #heldBytes = 0;

  add(texts: readonly string[]): void {
    for (const text of texts) {
      if (this.#waiting.has(text) || this.#known.has(digestOf(text))) continue;
      this.#waiting.add(text);
      this.#heldBytes += textMemory([text]);
    }
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Memory of the texts that are still to be judged, bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The first texts that are still to be judged. */
  next(most: number): readonly WaitingText[] {
    const texts: WaitingText[] = [];
    for (const text of this.#waiting) {
      if (texts.length >= most) break;
      texts.push({ text, pass: () => this.#pass(text) });
    }
    return texts;
  }

  #pass(text: string): void {
    if (!this.#waiting.delete(text)) return;
    this.#heldBytes -= textMemory([text]);
    if (this.#known.size < maxKnown) this.#known.add(digestOf(text));
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
