import type { CheckClient } from '#checks/client';
import { servedCheckTarget } from '#checks/served-target';
import type { ServedTarget } from '#contracts/served-target';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import type { DocumentGuard } from '../ports.ts';
import { judgeTexts } from './judge-texts.ts';

type DocumentGuardOptions = {
  readonly checks: Pick<CheckClient, 'check'>;
  /** The current target of the served policy; one document is judged by one target. */
  readonly target: () => ServedTarget;
};

/** Failures of a check that the text and the policy cause together: a retry would fail, too. */
const faults: Readonly<Partial<Record<string, string>>> = {
  match_limit: 'the policy masks more places than a check may have: split the document',
  output_too_large: 'the masked text is larger than a check may be: split the document',
  invalid_replacement: 'masks of different rules overlap: change the policy or the document',
  body_too_large: 'a text is larger than a check may be: split the document',
};

/**
 * Guards documents by a served policy: its request section judges every text, and masked texts are returned masked
 * (`client:mask:original-not-stored`, `client:mask:original-not-indexed`).
 */
export function createDocumentGuard({ checks, target }: DocumentGuardOptions): DocumentGuard {
  return {
    async check(_scope, texts, signal) {
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
        case 'indivisible':
          throw new DocumentFault(
            'too_large',
            `text ${judged.index} has no white space between masks at which it can be divided for the guardrail: divide it`,
          );
        case 'failed': {
          const fault = faults[judged.code];
          if (fault !== undefined) throw new DocumentFault('too_large', fault);
          throw new DependencyUnavailableError('guard', judged.code);
        }
      }
    },
  };
}
