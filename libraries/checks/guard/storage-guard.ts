import type { FailingProvider } from '#contracts/failing-provider';
import type { ServedTarget } from '#contracts/served-target';
import { type CheckFailure, failingProviderOf, type lastingFailures } from '../check-outcome.ts';
import type { CheckClient } from '../client.ts';
import { servedCheckTarget } from '../served-target.ts';
import { judgeTexts } from './judge-texts.ts';

type StorageGuardOptions = {
  readonly checks: Pick<CheckClient, 'check'>;
  /** Returns the current target of the served policy; all texts of one call are judged by the same target. */
  readonly target: () => ServedTarget;
};

/** The decision of a served policy about texts that a service is about to store. */
export type StorageDecision =
  /** The texts that may be stored, masked if the policy masks them, in the order in which they were given. */
  | { readonly kind: 'passed'; readonly texts: readonly string[]; readonly policyRevision: string }
  | { readonly kind: 'denied'; readonly policyRevision: string }
  /** The policy can never judge these texts. `problem` quotes no text. */
  | { readonly kind: 'unjudgeable'; readonly problem: string }
  /** No decision is possible now: the texts are neither stored nor indexed, and a later attempt may succeed. */
  | {
      readonly kind: 'failed';
      readonly code: CheckFailure;
      /**
       * The failing detector or classifier; present if one of them did not judge and the check client requests its
       * name.
       */
      readonly provider?: FailingProvider;
    };

/** Judges texts of any length by a served policy. A match that spans two texts is not found. */
export type StorageGuard = {
  /** Rejects only with the reason of an aborted signal. */
  judge(texts: readonly string[], signal: AbortSignal): Promise<StorageDecision>;
};

/** Failures of a check that the text and the policy cause together: a retry would fail, too. */
const problems: Readonly<Partial<Record<CheckFailure, string>> & Record<(typeof lastingFailures)[number], string>> = {
  match_limit: 'the policy masks more places than a check may have: split the text',
  output_too_large: 'the masked text is larger than a check may be: split the text',
  invalid_replacement: 'masks of different rules overlap: change the policy or the text',
  body_too_large: 'a text is larger than a check may be: split the text',
};

/**
 * Judges texts by the request section of a served policy, before they are stored: masked texts are returned masked
 * (`client:mask:original-not-stored`, `client:mask:original-not-indexed`; docs/design/retrieval-guard.md).
 */
export function createStorageGuard({ checks, target }: StorageGuardOptions): StorageGuard {
  return {
    async judge(texts, signal) {
      const served = target();
      const checkTarget = servedCheckTarget(served, 'request');
      const ask = (contents: readonly string[]) =>
        checks.check(
          checkTarget,
          'request',
          contents.map((content) => ({ role: 'user', content })),
          { signal },
        );
      const judged = await judgeTexts(ask, texts, checkTarget);
      signal.throwIfAborted();
      const policyRevision = `${served.policyId}:${served.policyRevision}`;
      switch (judged.kind) {
        case 'passed':
          return { kind: 'passed', texts: judged.texts, policyRevision };
        case 'denied':
          return { kind: 'denied', policyRevision };
        case 'indivisible': {
          const place = `text ${judged.index} has no white space between masks at which it can be divided`;
          return { kind: 'unjudgeable', problem: `${place} for the guardrail: divide it` };
        }
        case 'failed': {
          const { code } = judged.check;
          const problem = problems[code];
          if (problem !== undefined) return { kind: 'unjudgeable', problem };
          const provider = failingProviderOf(judged.check);
          return { kind: 'failed', code, ...(provider === undefined ? {} : { provider }) };
        }
      }
    },
  };
}
