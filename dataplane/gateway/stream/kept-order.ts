import type { TextChannel } from '#checks/text-channel';

/**
 * A text of a frame, and the position in it at which the frame ends. `value`: the value of the text that the frame repeats, the same
 * object for each repetition (docs/design/streaming.md, "Values that frames repeat").
 */
export type FrameText = { readonly channel: TextChannel; readonly end: number; readonly value: object | undefined };

type Ordered = { readonly texts: readonly FrameText[]; readonly joined: readonly string[] };

/**
 * The texts and members of frames whose order counts, so that a later frame with the same text or member is not sent
 * before them.
 */
export class KeptOrder {
  readonly #joined = new Set<string>();
  /** The texts of the frames, each with its value if all frames repeat the same value. */
  readonly #texts = new Map<TextChannel, object | undefined>();

  constructor(frames: readonly Ordered[] = []) {
    for (const frame of frames) this.add(frame);
  }

  add({ texts, joined }: Ordered): void {
    for (const name of joined) this.#joined.add(name);
    for (const { channel, value } of texts)
      this.#texts.set(channel, this.#texts.has(channel) && this.#texts.get(channel) !== value ? undefined : value);
  }

  /**
   * Whether a later frame has a piece of the same text or member. Frames that repeat one value can be sent in any
   * order.
   */
  isBefore({ texts, joined }: Ordered): boolean {
    const isSame = ({ channel, value }: FrameText): boolean =>
      value !== undefined && this.#texts.get(channel) === value;
    return (
      joined.some((name) => this.#joined.has(name)) || texts.some((one) => this.#texts.has(one.channel) && !isSame(one))
    );
  }
}
