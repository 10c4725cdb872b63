import type { CheckFailureCode, CheckMessage } from '#contracts/checks';
import type { RuleKind, Stage } from '#contracts/policy';
import type { ProviderCause } from '#contracts/provider-causes';
import type { ByteRange, CheckedText } from './checked-text.ts';
import type { MaskText } from './mask-text.ts';

/**
 * The verdict of a provider on a set of messages. Everything except a clear allow or deny is a failure with a code;
 * `cause` gives the reason why the provider did not judge.
 */
export type Verdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'failed'; readonly code: CheckFailureCode; readonly cause?: ProviderCause };

/** The input of a provider: always the original contents, never the output of a mask (`guardrail:execution:sees-original-text`). */
export type Question = { readonly stage: Stage; readonly messages: readonly CheckMessage[] };

/** The effect of a rule that fires. */
export type Effect =
  | { readonly kind: 'deny' }
  | {
      readonly kind: 'mask';
      readonly text: MaskText;
      /**
       * Returns at most `limit` matches in a text, from left to right, never empty, never overlapping. Throws when the
       * engine fails.
       */
      readonly find: (text: CheckedText, limit: number) => readonly ByteRange[];
    }
  | {
      readonly kind: 'ask';
      /** The name of the provider in the bundle. */
      readonly provider: string;
      /**
       * Asks the provider of the rule. Never rejects: every fault is a failed verdict. An aborted signal ends the call,
       * and its result is then ignored.
       */
      readonly ask: (question: Question, signal: AbortSignal) => Promise<Verdict>;
    };

export type CompiledRule = {
  readonly policyId: string;
  readonly stage: Stage;
  readonly id: string;
  readonly kind: RuleKind;
  readonly mode: 'enforce' | 'observe';
  /** Timeout of the rule, milliseconds. */
  readonly timeoutMs: number;
  readonly effect: Effect;
};

/** One pass of the engine over one text, for one or more local rules. */
export type Unit = {
  /** Indexes of the pass's rules in the section. */
  readonly places: readonly number[];
  /** The smallest timeoutMs of the rules in this pass. */
  readonly timeoutMs: number;
  /**
   * Returns the indexes of the rules that match in the text, in any order. Throws when the engine fails; a failure
   * never counts as "no match".
   */
  readonly firing: (text: CheckedText) => readonly number[];
};

/**
 * Steps of a section in their order. A batch contains all rules from place `from` up to `to`, exclusive, for which the
 * next rule need not wait: local rules, and observe rules with a provider (`observers`), which are not awaited. A batch
 * decides as if its rules ran one after another.
 */
export type SectionStep =
  | {
      readonly kind: 'batch';
      readonly from: number;
      readonly to: number;
      readonly units: readonly Unit[];
      readonly observers: readonly number[];
    }
  | { readonly kind: 'ask'; readonly place: number };

/** A policy section, compiled and ready to run. */
export type CompiledSection = {
  readonly stage: Stage;
  /** The section's deadline, in milliseconds from the start of the request. */
  readonly deadlineMs: number;
  /** All rules, baseline first, in the order in which they run. */
  readonly rules: readonly CompiledRule[];
  readonly steps: readonly SectionStep[];
};
