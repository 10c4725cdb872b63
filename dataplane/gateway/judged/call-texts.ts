import { batchMessages } from '#checks/batch-messages';
import { collectNested, newBudget } from './collect-texts.ts';
import type { DeltaTexts } from './delta-texts.ts';
import { piecesOfText } from './pieces-of-text.ts';

/** Limits of one check by the policy for answers. */
export type CheckLimits = { readonly maxMessages: number; readonly maxBodyBytes: number };

const role = 'assistant';

/**
 * Collects the pieces of the tool calls of a stream. Arguments are JSON, whose escapes hide words, so each call is
 * judged as a whole: a client cannot use a part of a call before its end.
 */
export class CallTexts {
  readonly #names = new Map<string, string>();
  readonly #inputs = new Map<string, string>();
  /** The names of calls that got several names: some clients join them, and others use one of them. */
  readonly #loneNames = new Set<string>();
  /** The first name of each call. */
  readonly #firstNames = new Map<string, string>();

  add(calls: DeltaTexts['calls']): void {
    for (const { call, name, input } of calls) {
      if (name !== '') this.#addName(call, name);
      if (input !== '') this.#inputs.set(call, (this.#inputs.get(call) ?? '') + input);
    }
  }

  #addName(call: string, name: string): void {
    const first = this.#firstNames.get(call);
    if (first === undefined) this.#firstNames.set(call, name);
    else for (const one of [first, name]) this.#loneNames.add(one.toWellFormed());
    this.#names.set(call, (this.#names.get(call) ?? '') + name);
  }

  /**
   * The texts of all calls so far, in as few checks as the limits allow; each check is a list of messages. A text that
   * is larger than one check is judged in windows, like the other texts of a stream.
   */
  checks(limits: CheckLimits): readonly (readonly string[])[] {
    const names = [...new Set([...this.#names.values(), ...this.#loneNames])].map((content) => ({ role, content }));
    const budget = newBudget();
    const inputs = [...this.#inputs.values()].flatMap((value) =>
      collectNested({ kind: 'string', value, start: 0, end: 0 }, { role, numbers: true }, budget),
    );
    const messages = [...names, ...inputs].flatMap((message) =>
      piecesOfText(message, limits.maxBodyBytes).map((content) => ({ role, content })),
    );
    return batchMessages(messages, limits, 'response').map((batch) => batch.map(({ content }) => content));
  }
}
