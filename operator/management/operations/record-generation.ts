import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { acceptanceProblems } from '../../revisions/acceptance-problems.ts';
import type { RevisionRecorder } from '../../revisions/record-revision.ts';
import { listRevisionHeads } from '../../revisions/revision-heads.ts';
import { type KnownRevision, knownRevision } from '../caches/known-revision.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { operationOfToken } from '../policies/make-policy.ts';
import type { AdvancePolicy } from './advance-policy.ts';
import type { OperationStore } from './ports.ts';

type GenerationRecord =
  | { readonly kind: 'recorded'; readonly revision: KnownRevision }
  /** The generation is invalid and is never recorded. */
  | { readonly kind: 'not_accepted' }
  /** An earlier write of this API must be recorded first, and that failed. The client retries. */
  | { readonly kind: 'pending' };

export type GenerationRecorder = {
  /** Records the live generation of a policy, unless it is already recorded. */
  record(policyId: string, policy: Stored<GuardrailPolicy>): Promise<GenerationRecord>;
  /** The revision of the live generation, once its recorder has written the revision; this method writes nothing. */
  find(policyId: string, policy: Stored<GuardrailPolicy>): Promise<GenerationRecord>;
};

/** How long a new revision is awaited in the cache before it is read from the server, milliseconds. */
const cacheWaitMs = 250;
/** How long a read waits for the recorder of a generation, milliseconds. */
const findMs = 2_000;
const findEveryMs = 25;

export function createGenerationRecorder(options: {
  readonly client: Pick<KubeClient, 'list' | 'get'>;
  readonly revisions: Pick<RevisionRecorder, 'record'>;
  readonly caches: Pick<ManagementCaches, 'revisions' | 'sawRevision'>;
  readonly store: Pick<OperationStore, 'getOpen'>;
  readonly advance: AdvancePolicy;
}): GenerationRecorder {
  const { client, revisions, caches, store, advance } = options;

  async function record(policyId: string, policy: Stored<GuardrailPolicy>): Promise<GenerationRecord> {
    const { uid, generation } = policy.metadata;
    const known = caches.revisions(policyId);
    const seen = known.find((revision) => revision.policy.uid === uid && revision.policy.generation === generation);
    if (seen !== undefined) return { kind: 'recorded', revision: seen };
    if (acceptanceProblems(policy.spec).length > 0) return { kind: 'not_accepted' };
    for (let attempt = 1; ; attempt++) {
      const result = await revisions.record(policyId, policy, known);
      if (result.kind === 'recorded') return readBack(policyId, result.head.number);
      if (attempt > 1 || !(await recordEarlier(policy))) return { kind: 'pending' };
    }
  }

  /** Records the write that the token names, from its row; false if the row no longer holds the write. */
  async function recordEarlier({ metadata, spec }: Stored<GuardrailPolicy>): Promise<boolean> {
    const { uid, generation } = metadata;
    const named = operationOfToken(spec.change ?? '');
    const operation = named === undefined ? undefined : await store.getOpen(named.operationId);
    if (named === undefined || operation === undefined) return false;
    await advance(operation, { uid, generation: named.generation }, { uid, generation });
    return true;
  }

  async function readBack(policyId: string, number: number): Promise<GenerationRecord> {
    await caches.sawRevision(policyId, number, cacheWaitMs);
    const seen = caches.revisions(policyId).find((revision) => revision.number === number);
    if (seen !== undefined) return { kind: 'recorded', revision: seen };
    const read = await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
    return read === undefined ? { kind: 'pending' } : { kind: 'recorded', revision: knownRevision(read) };
  }

  async function find(policyId: string, policy: Stored<GuardrailPolicy>): Promise<GenerationRecord> {
    const { uid, generation } = policy.metadata;
    const isOwn = (one: Pick<KnownRevision, 'policy'>): boolean =>
      one.policy.uid === uid && one.policy.generation === generation;
    const until = performance.now() + findMs;
    for (;;) {
      const seen = caches.revisions(policyId).find(isOwn);
      if (seen !== undefined) return { kind: 'recorded', revision: seen };
      if (acceptanceProblems(policy.spec).length > 0) return { kind: 'not_accepted' };
      if (performance.now() >= until) break;
      await pause(findEveryMs);
    }
    const head = (await listRevisionHeads(client, policyId)).find(isOwn);
    return head === undefined ? { kind: 'pending' } : readBack(policyId, head.number);
  }

  return { record, find };
}
