import { createHash } from 'node:crypto';
import { beginOf, tailOf } from '#checks/guard/join-seams';
import { TextChannel } from '#checks/text-channel';
import { textMemory } from '../chat/text-bounds.ts';
import type { WaitingText } from '../stream/check-together.ts';

/**
 * One text of a streamed response that grows by pieces and is repeated as a whole at its end. Its digest tells whether
 * the repetition is the text that was judged, without keeping the text.
 */
export class GrowingText {
  readonly channel = new TextChannel();
  readonly #digest = createHash('sha256');
  /** The ends that the texts in front of it can have. */
  readonly #before: readonly string[];
  /** Whether it was judged together with the beginning of this text. */
  #isJoined = false;
  #isEnded = false;

  /** @param before the ends that texts can have which clients read in front of it, as one text with it */
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
   * Records a text that came as a whole, and has no windows.
   * @returns the texts to judge: the text, and the place where clients join it to the text in front of it
   */
  complete(whole: string): readonly string[] {
    this.#digest.update(Buffer.from(whole, 'utf16le'));
    this.end();
    return this.joined(whole);
  }

  /**
   * @returns the texts to judge for a complete text in its place: that text, and the place where clients join it to the
   * previous text
   */
  joined(whole: string): readonly string[] {
    return [...this.#before.map((one) => one + beginOf(whole)), whole];
  }

  /** The end of the texts in front of it and of another whole text in its place. */
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
   * The next window, and before the first one the place where clients join this text to the previous one: a phrase that
   * is split there is judged before any byte of this text is sent. Each of them is judged as a separate text, because a
   * rule for whole words does not find a word that another text directly follows. None while the window is incomplete.
   */
  nextTexts(): readonly WaitingText[] {
    const window = this.channel.nextWindow();
    if (window === undefined) return [];
    const next: WaitingText = { text: window.text, pass: () => this.channel.pass(window) };
    if (this.#before.length === 0 || this.#isJoined) return [next];
    // A check may end between them: all of them are judged again until the last one has passed.
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
