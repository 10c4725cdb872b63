import { flowLimits } from '#contracts/flow-limits';
import type { RunAmounts } from '#contracts/run-usage';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { FlowError } from './flow-error.ts';

/** The limits of one run, including its subflows. */
export type RunBudget = { readonly [Name in keyof typeof flowLimits.run]: number };

export const fullBudget: RunBudget = {
  nodes: flowLimits.run.nodes.max,
  modelTokens: flowLimits.run.modelTokens.max,
  outputBytes: flowLimits.run.outputBytes.max,
  timeoutMs: flowLimits.run.timeoutMs.max,
};

type Counted = Exclude<keyof RunBudget, 'timeoutMs'>;
const words: Readonly<Record<Counted, string>> = { nodes: 'nodes', modelTokens: 'model tokens', outputBytes: 'bytes' };

/** The part of a budget that a call holds while it is in progress. */
export type BudgetShare = {
  readonly amounts: RunAmounts;
  /** The usage of the call; without a report that is its whole budget. */
  report(used: RunAmounts): void;
};
type OpenShare = BudgetShare & {
  /** Returns the unused part, once. @throws FlowError budget_exceeded */ settle(): void;
};

/** The tokens that a call of a model can use. */
export type TokenNeed = {
  /** Maximum number of tokens of the texts of the call. */
  readonly text: number;
  /** Maximum number of tokens of the answer; undefined if only the model limits them. */
  readonly answer: number | undefined;
  /** How many walks may be in progress at the same time. */
  readonly among: number;
};

/** Tokens up to which models usually answer if no limit is sent. A call without a limit never holds fewer for its answer. */
const usualAnswer = 16_384;

/** The tokens that a call of a model holds while it is in progress. */
type HeldTokens = {
  /** The remainder of the run's budget before the call. */
  readonly left: number;
  /** Returns all of them, once. The usage of the call is subtracted immediately after it. */
  settle(): void;
};

const names = ['nodes', 'modelTokens', 'outputBytes'] as const satisfies readonly Counted[];

/** Counts the remaining budget of a run. A budget is never larger than the limits of a run. */
export class BudgetMeter {
  readonly #given: RunAmounts;
  readonly #left: Record<Counted, number>;
  /**
   * Parts are taken one after another, so that a call that needs a large part is not overtaken by calls that need less.
   */
  readonly #turn = createSemaphore(1);
  #shares = 0;
  #holds = 0;
  #heldTokens = 0;
  #onReturn: (() => void) | undefined;

  constructor(budget: RunBudget) {
    this.#given = {
      nodes: Math.min(budget.nodes, fullBudget.nodes),
      modelTokens: Math.min(budget.modelTokens, fullBudget.modelTokens),
      outputBytes: Math.min(budget.outputBytes, fullBudget.outputBytes),
    };
    this.#left = { ...this.#given };
  }

  left(name: Counted): number {
    return this.#left[name];
  }

  /** The spent budget, including the shares of calls that have not ended. */
  used(): RunAmounts {
    const usedOf = (name: Counted): number => this.#given[name] - this.#left[name];
    return { nodes: usedOf('nodes'), modelTokens: usedOf('modelTokens'), outputBytes: usedOf('outputBytes') };
  }

  /** @throws FlowError budget_exceeded */
  spend(name: Counted, amount: number): void {
    // A node that is refused does not run; tokens and bytes were used before they are counted.
    const isRefused = name === 'nodes' && this.#freeOf(name) < amount;
    if (isRefused || !this.#spendUsed(name, amount)) throw new FlowError('budget_exceeded', { message: words[name] });
  }

  /** @returns whether so much was left */
  #spendUsed(name: Counted, amount: number): boolean {
    // An answer that is longer than its part uses tokens of other calls, which may use less than their parts: the
    // remaining budget is negative for a while.
    const isWithin = this.#freeOf(name) >= amount;
    this.#left[name] -= amount;
    return isWithin;
  }

  /**
   * Takes the share of a call that runs another flow. Calls at the same time have disjoint shares, so that all of
   * them together never use more than the budget. The run keeps a part, so that it can continue after a lost call.
   * @param among how many walks may be under way at the same time: each gets as much as the run keeps
   * @throws FlowError budget_exceeded if a part is empty
   */
  reserve(among: number): OpenShare {
    const partOf = (name: Counted): number => Math.min(this.#left[name], this.#partOf(name, among));
    const amounts = { nodes: partOf('nodes'), modelTokens: partOf('modelTokens'), outputBytes: partOf('outputBytes') };
    for (const name of names) {
      if (amounts[name] < 1) throw new FlowError('budget_exceeded', { message: words[name] });
    }
    for (const name of names) this.#left[name] -= amounts[name];
    this.#shares += 1;
    let used: RunAmounts = amounts;
    let isOpen = true;
    return {
      amounts,
      report(reported) {
        used = reported;
      },
      settle: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#shares -= 1;
        for (const name of names) this.#left[name] += amounts[name];
        this.#onReturn?.();
        // Every amount is subtracted, even if one amount exceeds its limit.
        const exceeded = names.filter((name) => !this.#spendUsed(name, used[name]));
        if (exceeded[0] !== undefined) throw new FlowError('budget_exceeded', { message: words[exceeded[0]] });
      },
    };
  }

  /**
   * Takes a share as `reserve` does, of the tokens that are left and those that calls of models hold. While these hold a
   * part of the share, it waits until they return tokens.
   * @throws FlowError budget_exceeded; the reason of the signal
   */
  async share(among: number, signal: AbortSignal): Promise<OpenShare> {
    using _turn = await this.#awaitTokens(() => this.#left.modelTokens >= this.#partOf('modelTokens', among), signal);
    return this.reserve(among);
  }

  /**
   * Takes the tokens that a call of a model can use. While too few tokens are left and other calls hold some, it waits
   * until they return them. If no other call holds tokens, it takes all remaining tokens, even if they are fewer.
   * @throws FlowError budget_exceeded if no tokens are left; the reason of the signal
   */
  async holdTokens(need: TokenNeed, signal: AbortSignal): Promise<HeldTokens> {
    using _turn = await this.#awaitTokens(() => this.#left.modelTokens >= this.#tokensOf(need), signal);
    const left = this.#left.modelTokens;
    if (left < 1) throw new FlowError('budget_exceeded', { message: words.modelTokens });
    const held = Math.min(this.#tokensOf(need), left);
    this.#left.modelTokens -= held;
    this.#heldTokens += held;
    this.#holds += 1;
    let isOpen = true;
    return {
      left,
      settle: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#holds -= 1;
        this.#heldTokens -= held;
        this.#left.modelTokens += held;
        this.#onReturn?.();
      },
    };
  }

  #partOf(name: Counted, among: number): number {
    return Math.floor(this.#freeOf(name) / (Math.max(1, among - this.#shares) + 1));
  }

  /** The amount that is left, with the tokens that calls of models hold and will return in part. */
  #freeOf(name: Counted): number {
    return this.#left[name] + (name === 'modelTokens' ? this.#heldTokens : 0);
  }

  /**
   * An answer without a limit gets the equal share of its walk, so that concurrent calls need not wait for each other.
   */
  #tokensOf({ text, answer, among }: TokenNeed): number {
    if (answer !== undefined) return text + answer;
    const part = Math.floor(this.#freeOf('modelTokens') / Math.max(1, among));
    return text + Math.min(Math.max(part - text, usualAnswer), flowLimits.maxTokens.max);
  }

  /**
   * Waits for its turn, and then until there are enough tokens or no call holds any. The turn ends when the result is
   * disposed.
   */
  async #awaitTokens(isEnough: () => boolean, signal: AbortSignal): Promise<Disposable> {
    const release = await this.#turn.acquire(signal);
    using turn = new DisposableStack();
    turn.defer(release);
    while (this.#holds > 0 && !isEnough()) await this.#nextReturn(signal);
    return turn.move();
  }

  /** Only the call whose turn it is waits. */
  async #nextReturn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal.reason);
    this.#onReturn = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) throw signal.reason;
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
