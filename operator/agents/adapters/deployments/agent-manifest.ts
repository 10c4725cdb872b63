import { z } from 'zod';
import { canonicalBytes } from '#contracts/canonical';
import type { ConfigMap } from '#kube/client/builtin-types';
import type { AgentTemplate } from '../../../environment/agent-template.ts';
import type { AgentRequest } from '../../ports.ts';
import { agentLabels, agentVersionAnnotation } from './resources/agent-labels.ts';
import { makeAgentDeployment, makeAgentNetworkPolicy, makeAgentService } from './resources/agent-objects.ts';
import { agentBundleKey } from './resources/agent-pod.ts';

const manifestKey = 'manifest.json';
/** The annotation that holds the digest of the bundle of a ConfigMap. */
const agentDigestAnnotation = 'portcullis.dev/digest';

const metadata = z.strictObject({
  name: z.string().min(1),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()).optional(),
});

function objectOf<A extends string, K extends string>(apiVersion: A, kind: K) {
  const spec = z.record(z.string(), z.json());
  return z.strictObject({ apiVersion: z.literal(apiVersion), kind: z.literal(kind), metadata, spec });
}

const manifestSchema = z.strictObject({
  kind: z.literal('KubernetesAgent'),
  deployment: objectOf('apps/v1', 'Deployment'),
  service: objectOf('v1', 'Service'),
  networkPolicy: objectOf('networking.k8s.io/v1', 'NetworkPolicy').optional(),
});

/** The objects of a version as they were rendered when it was first run. */
export type AgentManifest = z.infer<typeof manifestSchema>;

/** The objects of a version as the present environment renders them. */
export function makeAgentManifest(request: AgentRequest, template: AgentTemplate): AgentManifest {
  const made = {
    kind: 'KubernetesAgent',
    deployment: makeAgentDeployment(request, template),
    service: makeAgentService(request.name, template),
    ...(template.networkPolicy ? { networkPolicy: makeAgentNetworkPolicy(request, template) } : {}),
  };
  return manifestSchema.parse(JSON.parse(JSON.stringify(made)));
}

/**
 * The ConfigMap of a version with two entries: the bundle, which its pod mounts, and the manifest, which later
 * operators apply. It never changes, so that an upgrade of the operator restarts no agent
 * (docs/design/agent-versions.md).
 */
export function makeAgentConfigMap(
  { name, resource, bundle }: AgentRequest,
  manifest: AgentManifest,
  labels: AgentTemplate['labels'],
): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      labels: agentLabels(name, labels),
      annotations: { [agentDigestAnnotation]: bundle.digest, [agentVersionAnnotation]: resource },
    },
    immutable: true,
    data: { [agentBundleKey]: JSON.stringify(bundle), [manifestKey]: canonicalBytes(manifest).toString('utf8') },
  };
}

/** The manifest in the ConfigMap of a version; undefined if the ConfigMap has no manifest for this name. */
export function readAgentManifest(stored: Pick<ConfigMap, 'metadata' | 'data'>): AgentManifest | undefined {
  try {
    const parsed = manifestSchema.safeParse(JSON.parse(stored.data?.[manifestKey] ?? ''));
    if (!parsed.success) return undefined;
    const { deployment, service, networkPolicy } = parsed.data;
    const names = [deployment, service, ...(networkPolicy === undefined ? [] : [networkPolicy])];
    return names.every((one) => one.metadata.name === stored.metadata.name) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
