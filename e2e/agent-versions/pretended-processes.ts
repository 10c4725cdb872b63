import { createServer } from 'node:http';
import { type AgentBundle, agentBundleSchema } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';
import { listenOnLoopback } from '#kit/testing/loopback';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { ReachPod } from '../../operator/agents/adapters/deployments/agent-looks.ts';

/** Label with the name of the ConfigMap, on the pod of a version. */
const workloadLabel = 'portcullis.dev/agent-workload';

/**
 * Starts one server that answers for the pods of versions that no container runs, each with the bundle of its
 * ConfigMap.
 */
export async function startPretendedProcesses(
  client: Pick<KubeClient, 'get' | 'list'>,
): Promise<AsyncDisposable & { readonly reach: ReachPod }> {
  const bundles = new Map<string, AgentBundle>();
  let listing: Promise<void> | undefined;

  async function list(): Promise<void> {
    const { items } = await client.list<Pod>(builtinKinds.pod, { labelSelector: workloadLabel });
    for (const { metadata, status } of items) {
      const workload = metadata.labels?.[workloadLabel];
      if (status?.podIP === undefined || workload === undefined || bundles.has(status.podIP)) continue;
      const map = await client.get<ConfigMap>(builtinKinds.configMap, workload);
      const bundle = agentBundleSchema.safeParse(JSON.parse(map?.data?.['bundle.json'] ?? 'null'));
      if (bundle.success) bundles.set(status.podIP, bundle.data);
    }
  }

  async function bundleAt(ip: string): Promise<AgentBundle | undefined> {
    if (bundles.has(ip)) return bundles.get(ip);
    listing ??= list().finally(() => {
      listing = undefined;
    });
    await listing;
    return bundles.get(ip);
  }

  const server = createServer(async (incoming, outgoing) => {
    const [, ip = '', path = ''] = /^\/([^/]+)(\/.+)$/.exec(incoming.url ?? '') ?? [];
    const bundle = await bundleAt(ip).catch(() => undefined);
    if (bundle === undefined) return void outgoing.destroy();
    const card = { name: 'hello', supportedInterfaces: [{ url: bundle.publicUrl }] };
    const { agentId, versionId, digest } = bundle;
    const state = {
      ...{ agentId, versionId, digest, build: '1', ready: true, problems: [], capabilities: {}, runs: 0 },
      cardDigest: digestOf(card),
    };
    outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(path === '/state' ? state : card));
  });
  const url = await listenOnLoopback(server);
  return {
    reach: (ip) => ({ traffic: `${url}/${ip}`, admin: `${url}/${ip}` }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
