import type { AuditState } from '#contracts/audit';
import type { ApprovedProvider } from '#contracts/providers';
import { explainBinding } from '#diagnosis/explain-binding';
import type { KubeClient } from '#kube/client/client';
import { isInProgress } from '#resources/binding-state';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { desiredApplication, pinnedApplication } from '../../applications/application.ts';
import type { ReplicaView } from '../../applications/replica-views.ts';
import { replicasOf, waitingReplicas } from '../../applications/replica-views.ts';
import { findUpstream } from '../../environment/approved-providers.ts';
import type { GatewayReplicas } from '../../gateways/ports.ts';
import { isShown, type ManagementCaches } from '../caches/management-caches.ts';
import type { BindingFacts } from '../operations/decide-binding-end.ts';
import type { OperationStore } from '../operations/ports.ts';
import { bindingFacts } from '../operations/settle-models.ts';
import type { BindingCause } from './binding-state.ts';
import { findModel } from './find-model.ts';
import { knownDependencies, runningReports } from './known-dependencies.ts';
import type { ModelSnapshot, PinnedRoute } from './model-snapshot.ts';

export type ModelReader = {
  /** Reads the binding of a model live; undefined if the model has no binding. */
  find(modelId: string): Promise<Stored<ModelBinding> | undefined>;
  /**
   * The data from which the state of a model is computed: a live read of the route, cached reports, and the running
   * gateway replicas.
   */
  snapshot(modelId: string, binding: Stored<ModelBinding>): Promise<ModelSnapshot>;
  /** The first cause of the state of a binding, and the remedy, in the wording of `portcullis why`. */
  explain(binding: Stored<ModelBinding>): Promise<BindingCause>;
  /** The state that a command on the binding replaces. */
  stateOf(binding: Stored<ModelBinding>): Promise<ReplacedState>;
  /** The input that decides how operations on it end. */
  read(modelId: string): Promise<BindingFacts | undefined>;
};

type ReplacedState = {
  /** The policy that the binding names, and the digest of the bundle that its route pins; null without a policy. */
  readonly state: AuditState | null;
  /**
   * Ids of the policy that the binding names and of the policy that the route pins, which protects the model: they
   * differ while an application is in progress or after it failed.
   */
  readonly policyIds: readonly string[];
};

const operationId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function createModelReader(options: {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly caches: ManagementCaches;
  readonly gateways: Pick<GatewayReplicas, 'isAlive'>;
  readonly approved: () => readonly ApprovedProvider[];
  readonly store: Pick<OperationStore, 'get'>;
  /** The command with which remedies begin: `portcullis` or `kubectl portcullis`. */
  readonly program: string;
}): ModelReader {
  const { client, caches, gateways, approved, store, program } = options;

  async function routeOf(binding: Stored<ModelBinding>): Promise<Stored<GatewayRoute> | undefined> {
    const route = await client.get<GatewayRoute>(kinds.gatewayRoute, binding.metadata.name);
    return route?.spec.binding.id === binding.metadata.labels?.[idLabel] ? route : undefined;
  }

  async function policyIdOf({ spec }: Stored<ModelBinding>): Promise<string | undefined> {
    if (spec.guardrail.mode === 'None') return undefined;
    const { name } = spec.guardrail.policyRef;
    const cached = caches.policies.get(name);
    if (cached !== undefined) return isShown(cached) ? cached.metadata.labels?.[idLabel] : undefined;
    const live = await client.get<ModelBinding>(kinds.guardrailPolicy, name);
    return live?.metadata.labels?.[idLabel];
  }

  async function runningOnly(replicas: readonly ReplicaView[]): Promise<readonly ReplicaView[]> {
    const alive = await Promise.all(replicas.map(({ name }) => gateways.isAlive(name)));
    return replicas.filter((_replica, at) => alive[at]);
  }

  async function operationOf({ spec }: Stored<ModelBinding>): Promise<string | null> {
    const { apply = '' } = spec;
    if (!operationId.test(apply)) return null;
    return (await store.get(apply)) === undefined ? null : apply;
  }

  async function snapshot(modelId: string, binding: Stored<ModelBinding>): Promise<ModelSnapshot> {
    const { spec, metadata, status } = binding;
    const [route, policyId, operation] = await Promise.all([
      routeOf(binding),
      policyIdOf(binding),
      operationOf(binding),
    ]);
    const seen = route === undefined ? waitingReplicas(caches, spec.gateway) : replicasOf(caches, route);
    return {
      modelId,
      gateway: spec.gateway,
      generation: metadata.generation,
      operationId: operation,
      isModelOff: spec.model.state === 'Disabled',
      isProviderOff: findUpstream(approved(), spec.model.provider)?.enabled === false,
      desired: desiredApplication(spec, policyId),
      route: route === undefined ? undefined : pinnedRoute(route),
      history: status?.applications ?? [],
      isInProgress: isInProgress(binding),
      replicas: await runningOnly(seen),
      lastObservedAt: lastObserved(binding, [
        ...(route === undefined ? [] : [route]),
        ...caches.reports.by('gateway', spec.gateway),
      ]),
    };
  }

  return {
    find: (modelId) => findModel(client, caches, modelId),
    snapshot,
    async explain(binding) {
      const [route, reports] = await Promise.all([routeOf(binding), runningReports({ caches, gateways })]);
      const { cause, whatToDo } = explainBinding(knownDependencies({ caches, binding, route, reports }), program);
      return { message: cause?.message, whatToDo };
    },
    async stateOf(binding) {
      const { guardrail } = binding.spec;
      const [route, policyId] = await Promise.all([routeOf(binding), policyIdOf(binding)]);
      const pinned = route?.spec.guardrail.mode === 'Policy' ? route.spec.guardrail : undefined;
      const policyIds = [policyId, pinned?.policyId].filter((id) => id !== undefined);
      if (guardrail.mode === 'None') return { state: null, policyIds };
      const { revision } = guardrail.policyRef;
      return { state: { policyId: policyId ?? null, revision, digest: pinned?.digest ?? null }, policyIds };
    },
    async read(modelId) {
      const binding = await findModel(client, caches, modelId);
      if (binding === undefined) return undefined;
      const [route, policyId] = await Promise.all([routeOf(binding), policyIdOf(binding)]);
      const pinned = route === undefined ? undefined : pinnedRoute(route);
      return bindingFacts(binding, policyId, pinned);
    },
  };
}

/**
 * The latest stored time of an observation, so that every replica gives the same answer: creation of route and
 * reports, transitions of conditions, and outcomes of applications.
 */
function lastObserved(
  { status }: Stored<ModelBinding>,
  made: readonly Pick<Stored<GatewayRoute>, 'metadata'>[],
): Date | undefined {
  const times = [
    ...made.map(({ metadata }) => metadata.creationTimestamp),
    ...(status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
    ...(status?.applications ?? []).map(({ time }) => time),
  ].map((time) => Date.parse(time));
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : new Date(Math.max(...known));
}

function pinnedRoute({ spec }: Stored<GatewayRoute>): PinnedRoute {
  const { generationId, guardrail, refused } = spec;
  return {
    generationId,
    digest: guardrail.mode === 'Policy' ? guardrail.digest : null,
    application: pinnedApplication(spec),
    refused,
  };
}
