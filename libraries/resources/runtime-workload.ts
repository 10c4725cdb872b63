import { z } from 'zod';
import { conditionsSchema, digestSchema, observedGenerationSchema, resourceSchema } from './metadata.ts';

/** The runtime processes of one bundle and build, named `g-<hash>`; found by content, shared by applications. */
export const runtimeWorkloadSpecSchema = z.strictObject({
  digest: digestSchema.describe('digest is the SHA-256 of the bundle.'),
  build: z.string().min(1).max(512).describe('build is the version or the image of the runtime that runs the bundle.'),
  manifest: z.string().max(1_048_576).describe('manifest is what is run, rendered once, byte for byte.'),
  replicas: z.int().min(1).max(64).describe('replicas is the largest number that anyone asks for.'),
  state: z.enum(['Active', 'Draining']).describe('state Draining says that nobody needs the workload.'),
});
export const runtimeWorkloadStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  state: z.enum(['Starting', 'Ready', 'Draining']).optional().describe('state is what is observed.'),
  addresses: z
    .array(z.string().max(2_048))
    .max(64)
    .optional()
    .describe('addresses are the origins at which the runtime answers.'),
  readyReplicas: z.int().min(0).max(65_536).optional().describe('readyReplicas is the number of ready processes.'),
  testsPassed: z
    .array(z.string().max(128))
    .max(64)
    .optional()
    .describe('testsPassed are digests of test lists that this workload passed.'),
});
export const runtimeWorkloadSchema = resourceSchema(
  'RuntimeWorkload',
  runtimeWorkloadSpecSchema,
  runtimeWorkloadStatusSchema,
);
export type RuntimeWorkloadSpec = z.infer<typeof runtimeWorkloadSpecSchema>;
export type RuntimeWorkloadStatus = z.infer<typeof runtimeWorkloadStatusSchema>;
export type RuntimeWorkload = z.infer<typeof runtimeWorkloadSchema>;
