import type { Logger } from '#kit/log/logger';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { keepAnnotation, kinds, restoreMark } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyNameHash, policyNameLabel } from '#resources/revision-labels';
import type { CachedPolicy } from '../../caches/cached-policy.ts';
import { keptMetadata, readMark, restoredPolicy, writeMark } from './restored-policy.ts';

/** Whether a user has requested to keep the policy although it is being deleted. */
export function isDeletionTakenBack({ deletionTimestamp, annotations }: Stored<CachedPolicy>['metadata']): boolean {
  return deletionTimestamp !== undefined && annotations?.[keepAnnotation] === deletionTimestamp;
}

type PolicyRestoresOptions = {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
};

type Marked = { readonly revision: Stored<PolicyRevision>; readonly uid: string };

/**
 * Creates policies again whose deletion was cancelled: Kubernetes cannot cancel a deletion. A mark on the revision with
 * the content records the intention. The mark is written before the old object is released, and removed after the new
 * object exists, so that an operator that becomes the leader at any moment completes the restore.
 */
export function createPolicyRestores({ client, logger, events }: PolicyRestoresOptions) {
  /** Names of policies whose restore mark this process has read or written. */
  const marked = new Set<string>();

  async function list(labelSelector: string): Promise<readonly Marked[]> {
    const { items } = await client.list<PolicyRevision>(kinds.policyRevision, { labelSelector });
    return items.flatMap((revision) => {
      const mark = readMark(revision);
      return mark === undefined ? [] : [{ revision, uid: mark.uid }];
    });
  }

  async function ofName(name: string): Promise<readonly Marked[]> {
    const found = await list(`${restoreMark},${policyNameLabel}=${policyNameHash(name)}`);
    return found.filter(({ revision }) => revision.spec.policy.name === name);
  }

  async function unmark({ revision }: Marked): Promise<void> {
    const gone = { [restoreMark]: null };
    await applyDesired(client, kinds.policyRevision, revision, { labels: gone, annotations: gone });
  }

  async function forget(name: string): Promise<void> {
    for (const one of await ofName(name)) await unmark(one);
    marked.delete(name);
  }

  /** @returns whether the policy exists with a UID other than that of the deleted object */
  async function create({ revision, uid }: Marked): Promise<boolean> {
    const { name } = revision.spec.policy;
    const live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (live !== undefined) return live.metadata.uid !== uid;
    try {
      const policy = await client.create<GuardrailPolicy>(kinds.guardrailPolicy, restoredPolicy(revision));
      logger.info('policy_restored', { policy: name, revision: revision.metadata.name });
      const note = `The deletion was cancelled: the policy exists again with revision ${revision.spec.number}.`;
      events.record({ regarding: policy, type: 'Normal', reason: 'Restored', action: 'Restore', note });
      return true;
    } catch (error) {
      // Another client has created a policy with this name, which has priority.
      if (isKubeError(error, 'already_exists')) return true;
      throw error;
    }
  }

  return {
    /** Records, on the revision with its content, that the policy must be created again. */
    async mark(policy: Stored<CachedPolicy>, revisionName: string): Promise<void> {
      const revision = await client.get<PolicyRevision>(kinds.policyRevision, revisionName);
      if (revision === undefined) throw new TypeError('the revision of a policy that is to be restored does not exist');
      const { uid } = policy.metadata;
      await applyDesired(client, kinds.policyRevision, revision, {
        labels: { [restoreMark]: 'requested' },
        annotations: { [restoreMark]: writeMark({ uid, ...keptMetadata(policy.metadata) }) },
      });
      marked.add(policy.metadata.name);
    },
    /** Creates the policy again if a mark requests it and its old object no longer exists. */
    async complete(name: string): Promise<void> {
      if (!marked.has(name)) return;
      const found = await ofName(name);
      for (const one of found) if (!(await create(one))) return;
      // Only the marks of these creations are removed, because another operator may have marked a later deletion
      // meanwhile.
      for (const one of found) await unmark(one);
      marked.delete(name);
    },
    forget,
    /** Names of all policies with a mark, which `complete` then has. */
    async find(): Promise<readonly string[]> {
      const names = (await list(restoreMark)).map(({ revision }) => revision.spec.policy.name);
      for (const name of names) marked.add(name);
      return [...new Set(names)];
    },
  };
}
