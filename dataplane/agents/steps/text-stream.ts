import { TextChannel } from '#checks/text-channel';
import { characterStart } from '#checks/token-boundary';
import type { AgentBundle } from '#contracts/agent-bundle';
import { AgentError } from '../calls/agent-error.ts';
import { judgeWindow, type TextGuard } from './guard-texts.ts';

type TextStreamOptions = {
  readonly guard: TextGuard;
  readonly guardrail: AgentBundle['guardrails']['output'];
  readonly signal: AbortSignal;
  /** Receives text that may leave the process, in order. It is never empty. */
  readonly onReleased: (text: string) => void;
};

/**
 * The text of a result while the model still writes it, judged by the output policy in the windows of streamed answers
 * (docs/design/agents.md, "Streamed text"). Only text in front of which every window has passed is released. Without a
 * policy each piece is released when the next one has come.
 */
export class TextStream {
  readonly #options: TextStreamOptions;
  readonly #channel = new TextChannel();
  #text = '';
  /** The last part of the text, which waits for the check of its window. */
  #held = '';
  /** Position of the beginning of the held text, in bytes of UTF-8. */
  #releasedEnd = 0;
  /** The policy masks a text of which nothing was released: the whole result is judged at its end. */
  #isWhole = false;

  constructor(options: TextStreamOptions) {
    this.#options = options;
  }

  /** Whether a part of the text was released, so that the rest must follow in the same way. */
  get hasBegun(): boolean {
    return this.#releasedEnd > 0;
  }

  /**
   * Takes the next piece of the text, judges the windows that it completes and releases what passed.
   * @throws AgentError guardrail_denied, guardrail_error, output_invalid, cancelled
   */
  async add(piece: string): Promise<void> {
    if (this.#isWhole || piece === '') return;
    const { guardrail } = this.#options;
    // The last piece is held, because the last part of a text must not be empty.
    if (guardrail === 'None' && this.#held.isWellFormed()) this.#release(Buffer.byteLength(this.#held));
    this.#text += piece;
    this.#held += piece;
    if (guardrail === 'None') return;
    if (!this.#channel.append(piece)) throw new AgentError('output_invalid');
    for (let next = this.#channel.nextWindow(); next !== undefined; next = this.#channel.nextWindow()) {
      if (!(await this.#passes(next.text))) return;
      this.#channel.pass(next);
      this.#release(this.#channel.releasedEnd - this.#releasedEnd);
    }
  }

  /**
   * Judges the rest of a text that has begun.
   * @param text the result of the run
   * @returns the last part of the text, never empty; the caller sends it
   * @throws AgentError guardrail_denied, guardrail_error; output_invalid if the result is not the text that was
   * streamed
   */
  async finish(text: string | undefined): Promise<string> {
    if (text !== this.#text || !text.isWellFormed()) throw new AgentError('output_invalid');
    if (this.#options.guardrail === 'None') return this.#held;
    this.#channel.end();
    for (let next = this.#channel.nextWindow(); next !== undefined; next = this.#channel.nextWindow()) {
      if (!(await this.#passes(next.text))) throw new AgentError('guardrail_denied');
      this.#channel.pass(next);
    }
    return this.#held;
  }

  /** @returns false if the text is judged as a whole from now on */
  async #passes(text: string): Promise<boolean> {
    const { guard, guardrail, signal } = this.#options;
    const decision = await judgeWindow(guard, guardrail, text, signal);
    if (decision === 'pass') return true;
    // A part that has left cannot be masked any more.
    if (this.hasBegun) throw new AgentError('guardrail_denied');
    this.#isWhole = true;
    return false;
  }

  /**
   * Releases the first `bytes` of the held text, or less so that no character is cut.
   * @throws AgentError cancelled: the call may end while a window is judged
   */
  #release(bytes: number): void {
    if (this.#options.signal.aborted) throw new AgentError('cancelled');
    const held = Buffer.from(this.#held, 'utf8');
    const end = characterStart(held, bytes);
    if (end <= 0) return;
    const text = held.toString('utf8', 0, end);
    this.#held = this.#held.slice(text.length);
    this.#releasedEnd += end;
    this.#options.onReleased(text);
  }
}
