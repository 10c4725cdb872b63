import type { Surroundings } from '#diagnosis/surroundings';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { OpenedResources } from '../resources/resource-source.ts';

/** The resources and processes of an installation, as read. */
export type InstallationStatus = {
  readonly namespace: string;
  readonly surroundings: Surroundings;
  readonly policies: readonly Stored<GuardrailPolicy>[];
  readonly bindings: readonly Stored<ModelBinding>[];
  readonly routes: readonly Stored<GatewayRoute>[];
  readonly workloads: readonly Stored<RuntimeWorkload>[];
  readonly reports: readonly Stored<GatewayReport>[];
  readonly collections: readonly Stored<CollectionResource>[];
  readonly agentVersions: readonly Stored<AgentVersion>[];
  readonly agents: readonly Stored<Agent>[];
};

/** Reads reports last, so that they are at least as new as the routes that they describe. */
export async function readStatus({ client, surroundings }: OpenedResources): Promise<InstallationStatus> {
  const { items: policies } = await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy, {
    transform: withoutDefinition,
  });
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: workloads } = await listAll<RuntimeWorkload>(client, kinds.runtimeWorkload, {
    transform: withoutManifest,
  });
  const collections = await noneWithoutKind(listAll<CollectionResource>(client, kinds.collection));
  const agentVersions = await noneWithoutKind(
    listAll<AgentVersion>(client, kinds.agentVersion, { transform: withoutTexts }),
  );
  const agents = await noneWithoutKind(listAll<Agent>(client, kinds.agent));
  const { items: reports } = await listAll<GatewayReport>(client, kinds.gatewayReport);
  return {
    namespace: client.namespace,
    surroundings: await surroundings(),
    policies,
    bindings,
    routes,
    workloads,
    reports,
    collections,
    agentVersions,
    agents,
  };
}

/** An empty list in an installation of an earlier version, which does not have the kind. */
async function noneWithoutKind<Resource>(
  reading: Promise<{ readonly items: readonly Resource[] }>,
): Promise<readonly Resource[]> {
  try {
    return (await reading).items;
  } catch (error) {
    if (isKubeError(error, 'not_found')) return [];
    throw error;
  }
}

const noRules = { deadlineMs: 1, baseline: [], additional: [] };

/** Definitions are left out: they can be large, and an installation has many. */
function withoutDefinition(policy: Stored<GuardrailPolicy>): Stored<GuardrailPolicy> {
  const definition = { request: noRules, response: noRules, providers: [] };
  return { ...policy, spec: { ...policy.spec, definition, tests: [] } };
}

function withoutManifest(workload: Stored<RuntimeWorkload>): Stored<RuntimeWorkload> {
  return { ...workload, spec: { ...workload.spec, manifest: '' } };
}

function withoutTexts(version: Stored<AgentVersion>): Stored<AgentVersion> {
  if (version.spec.lowCode === undefined) return version;
  return { ...version, spec: { ...version.spec, lowCode: { flow: '', manifest: '', tests: '' } } };
}
