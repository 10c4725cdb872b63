import { z } from 'zod';
import { canonicalBytes } from '#contracts/canonical';
import type { WorkloadTemplate } from '../../../environment/workload-template.ts';
import type { WorkloadRendering } from '../../ports.ts';
import { makeDeployment } from './resources/deployment.ts';
import { makeNetworkPolicy } from './resources/network-policy.ts';
import { makePodDisruptionBudget } from './resources/pod-disruption-budget.ts';
import { makeService } from './resources/service.ts';

const metadata = z.strictObject({ name: z.string().min(1), labels: z.record(z.string(), z.string()) });

function objectOf<A extends string, K extends string>(apiVersion: A, kind: K, spec = z.record(z.string(), z.json())) {
  return z.strictObject({ apiVersion: z.literal(apiVersion), kind: z.literal(kind), metadata, spec });
}

const manifestSchema = z.strictObject({
  kind: z.literal('KubernetesWorkload'),
  /** Port of the Service. */
  port: z.int().min(1).max(65_535),
  deployment: objectOf('apps/v1', 'Deployment'),
  service: objectOf('v1', 'Service'),
  podDisruptionBudget: objectOf('policy/v1', 'PodDisruptionBudget'),
  networkPolicy: objectOf('networking.k8s.io/v1', 'NetworkPolicy').optional(),
});

/** The objects of a workload as they were rendered when it was created. */
export type WorkloadManifest = z.infer<typeof manifestSchema>;

/** The manifest of a workload as canonical JSON; later operators apply exactly these bytes. */
export function renderDeploymentManifest(input: WorkloadRendering, template: WorkloadTemplate): string {
  const { name, providers } = input;
  const manifest = {
    kind: 'KubernetesWorkload',
    port: template.port,
    deployment: makeDeployment(input, template),
    service: makeService(name, template),
    podDisruptionBudget: makePodDisruptionBudget(name, template),
    ...(template.networkPolicy ? { networkPolicy: makeNetworkPolicy(name, providers, template) } : {}),
  };
  return canonicalBytes(manifest).toString('utf8');
}

/** Parses the manifest of the workload of that name; undefined for another name and for local processes. */
export function readDeploymentManifest(text: string, name?: string): WorkloadManifest | undefined {
  try {
    const parsed = manifestSchema.safeParse(JSON.parse(text));
    return parsed.success && hasOneName(parsed.data, name) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function hasOneName(manifest: WorkloadManifest, expected: string | undefined): boolean {
  const { deployment, service, podDisruptionBudget, networkPolicy } = manifest;
  const objects = [deployment, service, podDisruptionBudget, ...(networkPolicy === undefined ? [] : [networkPolicy])];
  const name = expected ?? deployment.metadata.name;
  return objects.every((object) => object.metadata.name === name);
}
