import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import {
  descriptionSchema,
  jsonSchemaSchema,
  nodeIdSchema,
  uuidV7Schema,
  valueSchema,
  wordSchema,
} from './node-parts.ts';
import { nodeSchema } from './node-schemas.ts';

const schemaHolder = z.strictObject({ schema: jsonSchemaSchema });

/** Source of a flow (`agents:version:flow-schema`). */
export const flowSchema = z.strictObject({
  apiVersion: z.literal('platform.low-code.flow/v2'),
  metadata: z.strictObject({
    flowId: uuidV7Schema,
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
    version: z.int().min(1),
    title: z.string().min(1).max(flowLimits.name).optional(),
    description: descriptionSchema.optional(),
  }),
  input: schemaHolder,
  output: schemaHolder,
  state: z.strictObject({ schema: jsonSchemaSchema, initial: z.record(z.string(), valueSchema) }).optional(),
  entrypoints: z
    .record(wordSchema, nodeIdSchema)
    .refine((entries) => Object.keys(entries).length >= 1 && Object.keys(entries).length <= flowLimits.entrypoints, {
      error: `must have 1 to ${flowLimits.entrypoints} fields`,
    }),
  nodes: z.array(nodeSchema).min(1).max(flowLimits.nodes),
  edges: z
    .array(z.strictObject({ from: nodeIdSchema, to: nodeIdSchema, when: wordSchema.optional() }))
    .max(flowLimits.edges),
});

export type FlowSource = z.infer<typeof flowSchema>;
