import { createHash } from 'node:crypto';
import { TextChannel } from '#checks/text-channel';

/**
 * One text of a streamed response that grows by pieces and is repeated as a whole at its end. Its digest tells whether
 * the repetition is the text that was judged, without keeping the text.
 */
export class GrowingText {
  readonly channel: TextChannel;
  readonly #digest = createHash('sha256');
  #isEnded = false;

  /** @param before the text that clients read in front of it, of which the end is in its first window */
  constructor(before = '') {
    this.channel = new TextChannel(before);
  }

  /** @returns false for text after the end of the text, and for text that is not well-formed */
  append(piece: string): boolean {
    if (this.#isEnded) return false;
    this.#digest.update(Buffer.from(piece, 'utf16le'));
    return this.channel.append(piece);
  }

  /** @returns whether the text is well-formed */
  end(): boolean {
    this.#isEnded = true;
    return this.channel.end();
  }

  equals(text: string): boolean {
    const whole = createHash('sha256').update(Buffer.from(text, 'utf16le'));
    return this.#digest.copy().digest().equals(whole.digest());
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }
}
