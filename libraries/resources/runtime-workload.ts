import { z } from 'zod';
import { conditionsSchema, digestSchema, observedGenerationSchema, resourceSchema } from './metadata.ts';

/** The names that the operator gives to workloads: a digest over their content. */
export const workloadNameForm = /^g-[0-9a-f]{20}$/;

/** The host of a workload's Service, for clients inside of the cluster. */
export function workloadHost(name: string, namespace: string): string {
  return `${name}.${namespace}.svc`;
}

/**
 * The runtime processes of one bundle and build, named `g-<hash of their content>`; several applications can share
 * them.
 */
const runtimeWorkloadSpecSchema = z.strictObject({
  digest: digestSchema.describe('digest is the SHA-256 of the bundle.'),
  build: z.string().min(1).max(512).describe('build is the version or image of the runtime.'),
  manifest: z.string().max(1_048_576).describe('manifest is the rendered manifest of the workload; it never changes.'),
  replicas: z.int().min(1).max(64).describe('replicas is the largest number that a binding requests.'),
  state: z.enum(['Active', 'Draining']).describe('state Draining ends the workload, because no binding needs it.'),
});
const runtimeWorkloadStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  state: z.enum(['Starting', 'Ready', 'Draining']).optional().describe('state is the observed state.'),
  addresses: z.array(z.string().max(2_048)).max(64).optional().describe('addresses are the origins of the runtime.'),
  readyReplicas: z.int().min(0).max(65_536).optional().describe('readyReplicas is the number of ready processes.'),
  testsPassed: z
    .array(z.string().max(128))
    .max(64)
    .optional()
    .describe('testsPassed are the digests of the test lists that this workload has passed.'),
});
export const runtimeWorkloadSchema = resourceSchema(
  'RuntimeWorkload',
  runtimeWorkloadSpecSchema,
  runtimeWorkloadStatusSchema,
);
export type RuntimeWorkloadSpec = z.infer<typeof runtimeWorkloadSpecSchema>;
export type RuntimeWorkloadStatus = z.infer<typeof runtimeWorkloadStatusSchema>;
export type RuntimeWorkload = z.infer<typeof runtimeWorkloadSchema>;
