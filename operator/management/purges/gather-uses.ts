import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { AgentVersion } from '#resources/agent-version';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { listRevisionHeads } from '../../revisions/revision-heads.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { findPolicy } from '../policies/find-policy.ts';
import type { CommandTexts } from './ports.ts';
import type { UseFacts } from './revision-uses.ts';

/** Reads, live, the objects that can use a revision. Texts of flows are not kept. */
export async function gatherUses(
  ports: {
    readonly client: Pick<KubeClient, 'get' | 'list'>;
    readonly caches: Pick<ManagementCaches, 'policies' | 'revisions'>;
    readonly texts: CommandTexts;
  },
  revision: Stored<PolicyRevision>,
): Promise<UseFacts> {
  const { client, caches, texts } = ports;
  const { policyId, number, definitionDigest } = revision.spec;
  const workloadHeads = { ...kinds.runtimeWorkload, metadataOnly: true } as const;
  const policy = await findPolicy(client, caches, policyId);
  const heads = await listRevisionHeads(client, policyId);
  const bindings = await listAll<ModelBinding>(client, kinds.modelBinding);
  const routes = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const workloads = await listAll(client, workloadHeads);
  const agentVersions = await listAll<AgentVersion>(client, kinds.agentVersion, {
    transform: ({ spec, ...rest }) => ({
      ...rest,
      spec: spec.lowCode === undefined ? spec : { ...spec, lowCode: { flow: '', manifest: '', tests: '' } },
    }),
  });
  return {
    revision,
    policy,
    newest: Math.max(number, ...heads.map((head) => head.number)),
    bindings: bindings.items,
    routes: routes.items,
    workloads: workloads.items,
    agentVersions: agentVersions.items,
    isInCommand: await texts.isInCommand(policyId, { number, definitionDigest }),
  };
}
