import type { Definition } from '#contracts/policy';

/**
 * Policies whose revisions have different effects: revision n masks with its own number and denies the marks of all
 * other revisions. A request whose parts are judged by different revisions shows two numbers, or is blocked.
 */
export const secret = 'secret-of-the-harbour';
export const canary = 'forbidden-canary-phrase';

export const revisionMark = (revision: number): string => `mark-${String(revision).padStart(4, '0')}-`;
const stampOf = (revision: number): string => `[r${revision}]`;

/** Every revision whose mark a text contains. */
export function stampsIn(text: string): readonly number[] {
  return [...text.matchAll(/\[r(\d+)\]/g)].map((match) => Number(match[1]));
}

/** A long timeout, so that a busy machine does not fail the cutover. */
const timeoutMs = 1_000;

function maskSecret(revision: number) {
  return {
    id: 'secret',
    kind: 'stop_list' as const,
    timeoutMs,
    action: { type: 'mask' as const, replacement: stampOf(revision) },
    stopList: { terms: [secret], match: 'substring' as const, caseSensitive: true },
  };
}

function denyTerms(id: string, terms: readonly string[]) {
  return {
    id,
    kind: 'stop_list' as const,
    timeoutMs,
    action: { type: 'deny' as const },
    stopList: { terms: [...terms], match: 'substring' as const, caseSensitive: true },
  };
}

/** The definition of a revision out of `revisions`, numbered from 1. */
export function markedDefinition(revision: number, revisions: number): Definition {
  const all = Array.from({ length: revisions }, (_, index) => index + 1);
  const foreign = all.filter((other) => other !== revision).map(revisionMark);
  return {
    request: { deadlineMs: 5_000, baseline: [maskSecret(revision)], additional: [] },
    response: {
      deadlineMs: 5_000,
      baseline: [denyTerms('canary', [canary]), denyTerms('foreign-marks', foreign), maskSecret(revision)],
      additional: [],
    },
    providers: [],
  };
}
