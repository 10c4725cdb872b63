import { digestOf } from '#contracts/canonical';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import type { RevisionContent } from './resources/revision.ts';

/** A recorded revision without its definition, which may be large. */
export type RevisionHead = Omit<PolicyRevisionSpec, 'definition'> & { readonly objectName: string };

type Recording =
  /** This revision already records the generation. */
  | { readonly kind: 'stands'; readonly head: RevisionHead }
  | { readonly kind: 'create'; readonly number: number }
  /** Recording waits: the management API must first record its own earlier write. */
  | { readonly kind: 'hold' };

/** How long the operator waits for the management API to record its own write (docs/design/revisions.md). */
export const holdMs = 60_000;

/**
 * Whether and how a generation of a policy is recorded (docs/design/revisions.md).
 * @param heads every recorded revision of the policy id, in any order
 * @param input.deleting a deletion increases the generation without an edit
 * @param input.heldMs for how long this recorder has waited for the write that the token names
 */
export function decideRecording(
  content: RevisionContent,
  heads: readonly RevisionHead[],
  input: { readonly deleting: boolean; readonly heldMs: number },
): Recording {
  const { uid, generation } = content.policy;
  const newest = heads.reduce<RevisionHead | undefined>(
    (top, head) => (top && top.number > head.number ? top : head),
    undefined,
  );
  const ofUid = heads.filter((head) => head.policy.uid === uid);
  const latest = ofUid.reduce<RevisionHead | undefined>(
    (top, head) => (top && top.policy.generation > head.policy.generation ? top : head),
    undefined,
  );
  if (latest !== undefined && generation <= latest.policy.generation) return { kind: 'stands', head: latest };
  const repeats = latest === undefined || input.deleting ? newest : undefined;
  if (repeats !== undefined && saysTheSame(repeats, content)) return { kind: 'stands', head: repeats };
  if (input.heldMs < holdMs && isWriteMissing(content, ofUid)) return { kind: 'hold' };
  return { kind: 'create', number: (newest?.number ?? 0) + 1 };
}

/**
 * The number for a generation that is certainly not recorded yet, computed from known revisions, among which the newest
 * may be missing; undefined if that is not certain. The number is right only if creating its revision succeeds: numbers
 * have no gaps, so that success proves that no revision was missing.
 */
export function decideNextNumber(
  content: RevisionContent,
  known: readonly Pick<RevisionHead, 'number' | 'token' | 'policy'>[],
  deleting: boolean,
): number | undefined {
  if (deleting) return undefined;
  if (known.length === 0) return 1;
  const { uid, generation } = content.policy;
  const ofUid = known.filter((head) => head.policy.uid === uid);
  if (ofUid.length === 0 || ofUid.some((head) => head.policy.generation >= generation)) return undefined;
  if (isWriteMissing(content, ofUid)) return undefined;
  return Math.max(...known.map((head) => head.number)) + 1;
}

/** Compares content and token; the object and its generation are ignored. */
function saysTheSame(head: RevisionHead, content: RevisionContent): boolean {
  const { token, displayName, description, lifecycle, definitionDigest, refusalText, tests } = head;
  return (
    token === content.token &&
    displayName === content.displayName &&
    description === content.description &&
    lifecycle === content.lifecycle &&
    definitionDigest === content.definitionDigest &&
    refusalText === content.refusalText &&
    digestOf(tests) === digestOf(content.tests)
  );
}

/** The token names a write below this generation that no revision records. */
function isWriteMissing(content: RevisionContent, ofUid: readonly Pick<RevisionHead, 'token' | 'policy'>[]): boolean {
  const written = /^.+\/([1-9]\d{0,14})$/.exec(content.token)?.[1];
  if (written === undefined) return false;
  const generation = Number(written);
  if (generation >= content.policy.generation) return false;
  return !ofUid.some((head) => head.policy.generation === generation && head.token === content.token);
}
