import { createHash } from 'node:crypto';
import { beginOf, tailOf } from '#checks/guard/join-seams';
import { TextChannel } from '#checks/text-channel';
import { textMemory } from '../chat/text-bounds.ts';
import type { WaitingText } from '../stream/check-together.ts';

/**
 * One text of a streamed response that grows by pieces and is repeated as a whole at its end. A digest of the judged
 * text shows whether the repetition equals it, so that the text itself is not kept.
 */
export class GrowingText {
  readonly channel = new TextChannel();
  readonly #digest = createHash('sha256');
  /** The ends that the texts in front of it can have. */
  readonly #before: readonly string[];
  /** Whether the previous text was judged together with the beginning of this text. */
  #isJoined = false;
  #isEnded = false;

  /**
   * @param before the possible ends of the texts that clients read before this text; clients read each of them and this
   * text as one text
   */
  constructor(before: readonly string[] = []) {
    // A text in front that is not complete can end with half a surrogate pair.
    this.#before = before.filter((one) => one !== '').map((one) => one.toWellFormed());
  }

  /** @returns false for text after the end of the text, and for text that is not well-formed */
  append(piece: string): boolean {
    if (this.#isEnded) return false;
    this.#digest.update(Buffer.from(piece, 'utf16le'));
    return this.channel.append(piece);
  }

  /**
   * Records a text that arrived as a whole, so that it has no windows.
   * @returns the texts to judge: the text, and the place where clients join it to the preceding text
   */
  complete(whole: string): readonly string[] {
    this.#digest.update(Buffer.from(whole, 'utf16le'));
    this.end();
    return this.joined(whole);
  }

  /**
   * @returns the texts to judge for a complete text that replaces this one: that text, and the place where clients join
   * it to the previous text
   */
  joined(whole: string): readonly string[] {
    return [...this.#before.map((one) => one + beginOf(whole)), whole];
  }

  /** The end of the preceding texts joined with another whole text that replaces this one. */
  endOf(whole: string): string {
    return tailOf((this.#before[0] ?? '') + whole);
  }

  /** Memory of the end of the texts in front of it, bytes. */
  get heldBytes(): number {
    return textMemory(this.#before);
  }

  /** @returns whether the text is well-formed */
  end(): boolean {
    this.#isEnded = true;
    return this.channel.end();
  }

  /**
   * The next window. Before the first window, also the places where clients join this text to the previous text, so
   * that a phrase across such a place is judged before any byte of this text is sent. Each result is judged as a
   * separate text, because a rule for whole words does not find a word that another text directly follows. Empty while
   * the window is incomplete.
   */
  nextTexts(): readonly WaitingText[] {
    const window = this.channel.nextWindow();
    if (window === undefined) return [];
    const next: WaitingText = { text: window.text, pass: () => this.channel.pass(window) };
    if (this.#before.length === 0 || this.#isJoined) return [next];
    // A check may end between these texts: all of them are judged again until the last one has passed.
    const joints = this.#before.map((one, at) => ({
      text: one + beginOf(window.text),
      pass: (): void => {
        this.#isJoined ||= at === this.#before.length - 1;
      },
    }));
    return [...joints, next];
  }

  equals(text: string): boolean {
    const whole = createHash('sha256').update(Buffer.from(text, 'utf16le'));
    return this.#digest.copy().digest().equals(whole.digest());
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }
}
