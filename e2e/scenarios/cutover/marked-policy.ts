import type { Definition } from '#contracts/policy';

/**
 * Policies whose revisions can be told apart by what they do: revision n masks with its own number and denies the
 * marks of every other revision. A request of which any part is judged by another revision than its first part shows
 * two numbers, or is blocked.
 */
export const secret = 'secret-of-the-harbour';
export const canary = 'forbidden-canary-phrase';

export const markOf = (revision: number): string => `mark-${String(revision).padStart(4, '0')}-`;
export const stampOf = (revision: number): string => `[r${revision}]`;

/** Every revision whose stamp stands in a text. */
export function stampsIn(text: string): readonly number[] {
  return [...text.matchAll(/\[r(\d+)\]/g)].map((match) => Number(match[1]));
}

/** A machine that is busy with other things is no fault of a cutover. */
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
  const foreign = all.filter((other) => other !== revision).map(markOf);
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
