import { v7 as uuid } from 'uuid';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import { findCondition, setCondition } from '#kube/apply/conditions';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { AgentVersion } from '#resources/agent-version';
import type { GatewayRoute } from '#resources/gateway-route';
import { type GuardrailPolicy, policyStatusLimits } from '#resources/guardrail-policy';
import { idLabel, kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { policiesNamedBy } from '#resources/protection';
import { isApplied } from '../../applications/outcome-history.ts';
import { readPrevious } from '../../applications/previous-application.ts';
import { type CachedPolicy, isWhole } from '../../caches/cached-policy.ts';
import type { Stores } from '../../caches/caches.ts';
import { transitionEvents, type Watched } from '../../events/transition-events.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { acceptanceProblems } from '../../revisions/acceptance-problems.ts';
import type { RevisionHead } from '../../revisions/decide-recording.ts';
import { createRevisionRecorder } from '../../revisions/record-revision.ts';
import { listRevisionHeads, newestIdOfName } from '../../revisions/revision-heads.ts';
import type { ServedPolicies } from '../../served/ports.ts';
import type { ServedFailures } from '../../served/served-failures.ts';
import { unlistedPolicies } from '../../served/unlisted-policies.ts';
import { policyConditions, type ServedNames } from './conditions.ts';
import { decidePolicy, type PolicyResult } from './decide.ts';
import type { PolicyJudgements } from './judgements.ts';
import { createPolicyRestores, isDeletionTakenBack } from './policy-restores.ts';
import type { PolicySnapshot, RecordedView } from './snapshot.ts';

/** Interval of passes while the management API has not recorded its own earlier write. */
const heldLookMs = 5_000;
const maxSteps = 8;
/** Conditions whose changes emit an event. */
const watched: readonly Watched[] = [
  { type: 'Accepted', status: 'False', as: { type: 'Warning', action: 'Accept' } },
  { type: 'IdConflict', status: 'True', as: { type: 'Warning', action: 'Accept' } },
  { type: 'Valid', status: 'False', as: { type: 'Warning', action: 'Judge' } },
];

type PolicyControllerOptions = {
  readonly client: KubeClient;
  readonly stores: Stores;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Policies that are served directly: each entry refers to its policy. */
  readonly served: Pick<ServedPolicies, 'entries' | 'pins' | 'readPins'>;
  readonly notServed: ServedFailures;
  readonly judgements: Pick<PolicyJudgements, 'of' | 'request' | 'forget' | 'settingsDigest'>;
  /** Queues a pass over a policy. */
  readonly queue: (name: string) => void;
};

/** Key of the pass that queues the policies whose deletion was cancelled; no policy has this name. */
export const pendingRestores = '*';

/** Gives policies their id and finalizer, records their revisions and holds their deletion. */
export function createPolicyController(options: PolicyControllerOptions) {
  const { client, stores, clock, logger, events, judgements } = options;
  const restores = createPolicyRestores(options);
  /** For each policy UID, the generation that is known to be recorded, so that its revision is not searched again. */
  const recorded = new Map<string, { readonly generation: number; readonly view: RecordedView }>();
  const recorder = createRevisionRecorder(client, clock);

  async function reconcile(name: string): Promise<PassOutcome> {
    if (name === pendingRestores) return queuePending();
    await restores.complete(name);
    const found = await lookUp(name);
    if (found === undefined) return { kind: 'settled' };
    let policy = found;
    let references: readonly string[] | undefined;
    let record: PolicySnapshot['recorded'];
    const newest = await newestForNamesakes(policy);
    for (let step = 0; step < maxSteps; step++) {
      const decided = decidePolicy(snapshotOf(policy, { references, newest, recorded: record ?? knownRecord(policy) }));
      switch (decided.kind) {
        case 'nothing':
          return { kind: 'settled' };
        case 'adopt':
          policy = await adopt(policy);
          break;
        case 'record':
          record = await recordOne(policy);
          break;
        case 'find_references':
          references = await findReferences(policy);
          break;
        case 'release':
          // A mark for an earlier policy of this name must not restore the policy that is deleted now.
          await restores.forget(policy.metadata.name);
          await release(policy);
          return { kind: 'settled' };
        case 'take_back':
          await restores.mark(policy, decided.from.name);
          await release(policy);
          await restores.complete(policy.metadata.name);
          return { kind: 'settled' };
        case 'settle':
          return settle(policy, decided.result);
      }
    }
    throw new TypeError('the reconcile of a policy exceeded its maximum number of steps');
  }

  /** Policies that an earlier operator released and did not create again. */
  async function queuePending(): Promise<PassOutcome> {
    for (const name of await restores.find()) options.queue(name);
    return { kind: 'settled' };
  }

  /** Reads a policy from the cache if its definition is known to be recorded, otherwise the whole object live. */
  async function lookUp(name: string): Promise<Stored<CachedPolicy> | undefined> {
    const cached = stores.policies.get(name);
    if (cached === undefined || knownRecord(cached) !== undefined) return cached;
    return client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  }

  function knownRecord(policy: Stored<CachedPolicy>): RecordedView | undefined {
    const known = recorded.get(policy.metadata.uid);
    return known?.generation === policy.metadata.generation ? known.view : undefined;
  }

  async function newestForNamesakes(policy: Stored<CachedPolicy>): Promise<RevisionHead | undefined> {
    const id = policy.metadata.labels?.[idLabel];
    if (id === undefined || stores.policies.by('id', id).length < 2) return undefined;
    return (await listRevisionHeads(client, id)).toSorted((a, b) => b.number - a.number)[0];
  }

  function snapshotOf(
    policy: Stored<CachedPolicy>,
    found: Pick<PolicySnapshot, 'references' | 'newest' | 'recorded'>,
  ): PolicySnapshot {
    const { metadata } = policy;
    const id = metadata.labels?.[idLabel];
    return {
      name: metadata.name,
      uid: metadata.uid,
      generation: metadata.generation,
      id,
      hasFinalizer: metadata.finalizers?.includes(operatorFinalizer) ?? false,
      deleting: metadata.deletionTimestamp !== undefined,
      ...(metadata.deletionTimestamp === undefined ? {} : { deletedAt: metadata.deletionTimestamp }),
      isKept: isDeletionTakenBack(metadata),
      // A generation with a revision was accepted earlier and is not judged again.
      problems: knownRecord(policy) === undefined ? acceptanceProblems(policy.spec) : [],
      namesakes: (id === undefined ? [] : stores.policies.by('id', id))
        .filter((other) => other.metadata.uid !== metadata.uid)
        .map((other) => ({ name: other.metadata.name, uid: other.metadata.uid })),
      ...found,
    };
  }

  async function adopt(policy: Stored<CachedPolicy>): Promise<Stored<CachedPolicy>> {
    const { name, labels, finalizers = [] } = policy.metadata;
    const id = labels?.[idLabel] ?? (await freeIdOf(name)) ?? uuid();
    return applyDesired(client, kinds.guardrailPolicy, policy, {
      labels: { [idLabel]: id },
      finalizers: finalizers.includes(operatorFinalizer) ? finalizers : [...finalizers, operatorFinalizer],
    });
  }

  /** The id that policies of this name had, unless another policy has it now. */
  async function freeIdOf(name: string): Promise<string | undefined> {
    const id = await newestIdOfName(client, name);
    return id === undefined || stores.policies.by('id', id).length > 0 ? undefined : id;
  }

  async function recordOne(policy: Stored<CachedPolicy>): Promise<RecordedView | 'held'> {
    const { uid, generation, labels } = policy.metadata;
    const id = labels?.[idLabel];
    if (id === undefined || !isWhole(policy))
      throw new TypeError('a revision was to be recorded for a policy that is invalid or has no id');
    const result = await recorder.record(id, policy);
    if (result.kind === 'held') return 'held';
    const { number, objectName, definitionDigest } = result.head;
    const view = { number, name: objectName, definitionDigest };
    recorded.set(uid, { generation, view });
    if (result.created) {
      logger.info('revision_recorded', { policy: policy.metadata.name, revision: objectName });
      const note = `Revision ${number} records this state of the policy.`;
      events.record({ regarding: policy, type: 'Normal', reason: 'Recorded', action: 'Record', note });
    }
    return view;
  }

  /** Objects that refer to the policy by name or still serve one of its revisions, from live reads. */
  async function findReferences(policy: Stored<CachedPolicy>): Promise<readonly string[]> {
    const { name, labels } = policy.metadata;
    const id = labels?.[idLabel];
    const bindings = await listAll<ModelBinding>(client, kinds.modelBinding);
    const routes = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
    const refers = ({ spec }: ModelBinding): boolean =>
      spec.guardrail.mode === 'Policy' && spec.guardrail.policyRef.name === name;
    const byName = new Map(bindings.items.map((binding) => [binding.metadata.name, binding]));
    const serves = (route: Stored<GatewayRoute>): boolean =>
      servedPolicies(route, byName.get(route.metadata.name)).some((served) => served === id);
    const pins = await options.served.readPins();
    const addresses = [
      ...entriesOf(name),
      ...[...pins].filter(([, pin]) => pin.policyId === id).map(([entry]) => entry),
    ];
    const versions = await listAll<AgentVersion>(client, kinds.agentVersion, { transform: withoutFlow });
    const names = [name, ...addresses];
    const isNaming = ({ spec }: AgentVersion): boolean => {
      const named = policiesNamedBy(spec);
      return names.some((one) => named.has(one));
    };
    return [
      ...versions.items.filter(isNaming).map((version) => `agent version ${version.metadata.name}`),
      ...[...new Set(addresses)].map((entry) => `served policy ${entry}`),
      ...bindings.items.filter(refers).map((binding) => `binding ${binding.metadata.name}`),
      ...routes.items.filter(serves).map((route) => `route ${route.metadata.name}`),
    ].toSorted();
  }

  /** The names of served policies that refer to a policy, sorted. */
  function entriesOf(policy: string): readonly string[] {
    const referring = options.served.entries.filter(({ policyRef }) => policyRef.name === policy);
    return referring.map((entry) => entry.name).toSorted();
  }

  function servedNames({ metadata }: Stored<CachedPolicy>): ServedNames {
    const id = metadata.labels?.[idLabel];
    const unlisted = unlistedPolicies(options.served, stores.agentVersions).filter(({ pin }) => pin.policyId === id);
    const names = [...entriesOf(metadata.name), ...unlisted.map(({ name }) => name)].toSorted();
    return { names, unlisted, failed: options.notServed.ofPolicy(metadata.name) };
  }

  async function release(policy: Stored<CachedPolicy>): Promise<void> {
    const finalizers = policy.metadata.finalizers?.filter((finalizer) => finalizer !== operatorFinalizer) ?? [];
    await applyDesired(client, kinds.guardrailPolicy, policy, { finalizers });
    recorded.delete(policy.metadata.uid);
    recorder.forget(policy.metadata.uid);
    judgements.forget(policy.metadata.uid);
  }

  /**
   * Requests the judgement of a recorded policy whose status has no judgement for this generation and these settings.
   */
  async function judge(policy: Stored<CachedPolicy>, revision: number): Promise<void> {
    const { name, generation } = policy.metadata;
    if (judgements.of(policy) !== undefined) return;
    const isStated = findCondition(policy.status?.conditions, 'Valid')?.observedGeneration === generation;
    if (isStated && policy.status?.judgedSettings === judgements.settingsDigest()) return;
    const whole = isWhole(policy) ? policy : await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (whole?.metadata.generation === generation) judgements.request(whole, revision);
  }

  async function settle(policy: Stored<CachedPolicy>, result: PolicyResult): Promise<PassOutcome> {
    const { generation } = policy.metadata;
    const latestRevision = result.kind === 'recorded' ? result.revision : policy.status?.latestRevision;
    const served = servedNames(policy);
    const servedAs = served.names.slice(0, policyStatusLimits.servedAs);
    const now = clock.date();
    const judgement = judgements.of(policy);
    const judgedSettings = judgement === undefined ? policy.status?.judgedSettings : judgements.settingsDigest();
    const before = policy.status?.conditions ?? [];
    const kept = served.names.length > 0 ? before : before.filter(({ type }) => type !== 'Served');
    const conditions = policyConditions(result, { judgement, served }, generation).reduce(
      (list, change) => setCondition(list, change, now),
      kept as ReturnType<typeof setCondition>,
    );
    await applyStatus(client, kinds.guardrailPolicy, policy, {
      conditions: [...conditions],
      observedGeneration: generation,
      ...(latestRevision === undefined ? {} : { latestRevision }),
      ...(judgedSettings === undefined ? {} : { judgedSettings }),
      ...(servedAs.length === 0 ? {} : { servedAs }),
    });
    for (const note of transitionEvents(policy.status?.conditions, conditions, watched)) {
      events.record({ regarding: policy, ...note });
    }
    if (result.kind === 'recorded') await judge(policy, result.revision.number);
    return result.kind === 'held' ? { kind: 'waiting', afterMs: heldLookMs } : { kind: 'settled' };
  }

  return { reconcile };
}

/** Flows are left out: they can be large, and name no policy that the guardrails do not name. */
function withoutFlow(version: Stored<AgentVersion>): Stored<AgentVersion> {
  if (version.spec.lowCode === undefined) return version;
  return { ...version, spec: { ...version.spec, lowCode: { flow: '', manifest: '', tests: '' } } };
}

/** The policies that a route serves, or serves again after an automatic rollback. */
function servedPolicies(route: Stored<GatewayRoute>, binding: ModelBinding | undefined): readonly string[] {
  const { guardrail, generationId } = route.spec;
  const isOnTrial = !isApplied(binding?.status?.applications ?? [], generationId);
  const previous = isOnTrial ? readPrevious(route) : undefined;
  return [
    ...(guardrail.mode === 'Policy' ? [guardrail.policyId] : []),
    ...(previous?.mode === 'Policy' ? [previous.guardrail.policyId] : []),
  ];
}
