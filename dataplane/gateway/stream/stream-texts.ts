import { TextChannel } from '#checks/text-channel';
import { limits } from '#contracts/limits';
import type { WaitingText } from './check-together.ts';

/** Maximum number of texts of one stream besides content and refusal. */
const maxFurther = 1_024;

/** The texts of one streamed chat, each with its own windows: content, refusal, and the further judged texts. */
export class StreamTexts {
  readonly content = new TextChannel();
  readonly refusal = new TextChannel();
  /** All texts in the order in which they began. */
  readonly #all: TextChannel[] = [this.content, this.refusal];
  /** The further judged texts, by the member that contains them. */
  readonly #further = new Map<string, TextChannel>();
  /** Bytes of all texts so far, and how many bytes had arrived when a text last grew. */
  #bytes = 0;
  readonly #grownAt = new Map<TextChannel, number>();

  /** The text of a member. @returns undefined when the stream has more texts than may be judged */
  furtherAt(path: string): TextChannel | undefined {
    const known = this.#further.get(path);
    if (known !== undefined) return known;
    if (this.#further.size >= maxFurther) return undefined;
    const channel = new TextChannel();
    this.#further.set(path, channel);
    this.#all.push(channel);
    return channel;
  }

  /** Adds a piece to one of the texts. @returns whether the text is well-formed so far */
  append(channel: TextChannel, piece: string): boolean {
    if (piece === '') return true;
    const before = channel.length;
    const isWellFormed = channel.append(piece);
    this.#bytes += channel.length - before;
    this.#grownAt.set(channel, this.#bytes);
    return isWellFormed;
  }

  /** Marks all texts as complete. @returns whether all of them are well-formed */
  end(): boolean {
    return !this.#all.map((channel) => channel.end()).includes(false);
  }

  /** Whether all texts so far have passed a check. */
  get areChecked(): boolean {
    return this.#all.every(({ isChecked }) => isChecked);
  }

  /**
   * The windows to judge next; empty while no window is complete. Before a complete window, the unchecked text of each
   * paused text is judged, because its window may never become complete, and later frames would wait for it. The same
   * applies to a text that ends with a value.
   * @param early which texts are judged although no window is complete: all texts, those that end with a value, or none
   */
  nextWindows(early: 'all' | 'values' | 'none'): readonly WaitingText[] {
    const hasWindow = this.#all.some((one) => one.hasWindow);
    if (early === 'none' && !hasWindow) return [];
    const mayWait = (one: TextChannel): boolean => !one.hasSettled && !(hasWindow && this.standsStill(one));
    const incomplete = this.#all.filter((one) => !one.hasWindow && (early === 'all' || !mayWait(one)));
    const complete = this.#all.filter(({ hasWindow }) => hasWindow);
    return [...incomplete, ...complete].flatMap((channel) => {
      const window = channel.earlyWindow();
      return window === undefined ? [] : [{ text: window.text, pass: () => channel.pass(window) }];
    });
  }

  /** Whether a text has paused: a window of other text has arrived since it grew. */
  standsStill(channel: TextChannel): boolean {
    return this.#bytes - (this.#grownAt.get(channel) ?? 0) >= limits.windowBytes;
  }
}
