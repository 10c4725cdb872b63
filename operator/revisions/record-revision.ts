import type { Clock } from '#kit/time/clock';
import { changeNote } from '#kube/client/change-author';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { type ChangeNote, readChangeNote } from '#resources/change-note';
import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { decideNextNumber, decideRecording, type RevisionHead } from './decide-recording.ts';
import { makeRevision, makeRevisionContent, type RevisionContent, revisionName } from './resources/revision.ts';
import { listRevisionHeads } from './revision-heads.ts';

/** A generation that is recorded: its metadata and its accepted spec. */
type Recordable = {
  readonly metadata: Pick<
    Stored<GuardrailPolicy>['metadata'],
    'name' | 'uid' | 'generation' | 'deletionTimestamp' | 'annotations'
  >;
  readonly spec: GuardrailPolicySpec;
  /** The author and the reason of the generation, if the caller has them; otherwise they are read from the object. */
  readonly note?: ChangeNote | undefined;
};

type RecordResult =
  | { readonly kind: 'recorded'; readonly head: RevisionHead; readonly created: boolean }
  /** Another recorder must record an earlier write of the policy first. */
  | { readonly kind: 'held' };

/** Limit of attempts with the next number when a number is taken. */
const maxAttempts = 8;

export type RevisionRecorder = {
  /**
   * Records one accepted generation of a policy under the next number of its id, or returns the revision that already
   * records it. The call can be repeated safely, even by two callers at the same time: a number is taken by creating
   * the object with its name.
   * @param known revisions of the id that the caller has seen; if they are sufficient, no list is read
   */
  record(
    policyId: string,
    policy: Recordable,
    known?: readonly Pick<RevisionHead, 'number' | 'token' | 'policy'>[],
  ): Promise<RecordResult>;
  /** Removes a policy that no longer exists from memory. */
  forget(uid: string): void;
};

/**
 * The only recorder of revisions: the operator uses it for applied policies, the management API for its own writes
 * (docs/decisions/0102-management-records-its-own-writes.md). The recorder keeps the time since which a generation is
 * `held`.
 */
export function createRevisionRecorder(
  client: Pick<KubeClient, 'list' | 'get' | 'create'>,
  clock: Pick<Clock, 'now'>,
): RevisionRecorder {
  /** For each policy UID, the generation that is held, and the time since which it is held. */
  const held = new Map<string, { readonly generation: number; readonly since: number }>();
  return {
    async record(policyId, policy, known) {
      const { uid, generation } = policy.metadata;
      const before = held.get(uid);
      const since = before?.generation === generation ? before.since : undefined;
      const now = clock.now();
      const result = await recordRevision(client, policyId, policy, since === undefined ? 0 : now - since, known);
      if (result.kind === 'held') held.set(uid, { generation, since: since ?? now });
      else if (since !== undefined) held.delete(uid);
      return result;
    },
    forget: (uid) => void held.delete(uid),
  };
}

/** @param heldMs for how long this generation has been held */
async function recordRevision(
  client: Pick<KubeClient, 'list' | 'get' | 'create'>,
  policyId: string,
  policy: Recordable,
  heldMs: number,
  known: readonly Pick<RevisionHead, 'number' | 'token' | 'policy'>[] | undefined,
): Promise<RecordResult> {
  const content = makeRevisionContent(policy.metadata, policy.spec);
  const noted = (heads: readonly Pick<RevisionHead, 'token' | 'policy'>[]) => ({
    ...content,
    ...(policy.note ?? noteOfPolicy(policy, tokensOf(heads, policy.metadata.uid))),
  });
  const deleting = policy.metadata.deletionTimestamp !== undefined;
  const next = known === undefined ? undefined : decideNextNumber(content, known, deleting);
  const taken = next === undefined ? undefined : await take(client, policyId, next, noted(known ?? []), false);
  if (taken !== undefined) return taken;
  for (let attempt = 1; ; attempt++) {
    const heads = await listRevisionHeads(client, policyId);
    const recording = decideRecording(content, heads, { deleting, heldMs });
    if (recording.kind === 'hold') return { kind: 'held' };
    if (recording.kind === 'stands') return { kind: 'recorded', head: recording.head, created: false };
    const head = await take(client, policyId, recording.number, noted(heads), attempt === maxAttempts);
    if (head !== undefined) return head;
  }
}

function tokensOf(heads: readonly Pick<RevisionHead, 'token' | 'policy'>[], uid: string): readonly string[] {
  return heads.filter((head) => head.policy.uid === uid).map((head) => head.token);
}

/** Creates the revision; undefined when the number was taken by another generation. */
async function take(
  client: Pick<KubeClient, 'get' | 'create'>,
  policyId: string,
  number: number,
  content: RevisionContent & { readonly definition: string },
  isLast: boolean,
): Promise<RecordResult | undefined> {
  const { definition: _large, ...rest } = content;
  const objectName = revisionName(policyId, number);
  const head = { policyId, number, ...rest, objectName };
  try {
    await client.create<PolicyRevision>(kinds.policyRevision, makeRevision(policyId, number, content));
    return { kind: 'recorded', head, created: true };
  } catch (error) {
    if (!isKubeError(error, 'already_exists') || isLast) throw error;
    const taken = await client.get<PolicyRevision>(kinds.policyRevision, objectName);
    const { uid, generation } = content.policy;
    const isOurs = taken?.spec.policy.uid === uid && taken.spec.policy.generation === generation;
    return isOurs ? { kind: 'recorded', head, created: false } : undefined;
  }
}

type Noted = {
  readonly metadata: Pick<GuardrailPolicy['metadata'], 'annotations'>;
  readonly spec: Pick<GuardrailPolicy['spec'], 'change'>;
};

/**
 * The author and the reason of this generation of a policy.
 * @param recordedTokens tokens of earlier revisions of this object: a later edit that keeps the token has no note
 */
function noteOfPolicy({ metadata, spec }: Noted, recordedTokens: readonly string[]): ChangeNote {
  const token = spec.change ?? '';
  const stated = recordedTokens.includes(token) ? undefined : readChangeNote(metadata.annotations, token);
  return changeNote(metadata, stated);
}
