import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import {
  aliasSchema,
  descriptionSchema,
  jsonSchemaSchema,
  sha256Schema,
  toolNameSchema,
  within,
  wordSchema,
} from './node-parts.ts';

const title = z.string().min(1).max(flowLimits.name);
const mediaType = z.string().regex(/^[a-z]+\/[a-z0-9.+-]+$/);
const executionMode = z.enum(['a2a_agent', 'mcp_tool']);
/** A revision of a policy, or the explicit value None. */
const guardrail = z.union([z.literal('None'), z.strictObject({ policy: aliasSchema, revision: z.int().min(1) })]);
const unique = <T>(list: readonly T[]): boolean => new Set(list).size === list.length;

/**
 * Publish manifest of a flow (`agents:version:publish-manifest`). Identity and addresses are issued by the platform, so
 * no author writes them.
 */
export const manifestSchema = z.strictObject({
  apiVersion: z.literal('platform.low-code.publish-manifest/v2'),
  agent: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
    title,
    description: descriptionSchema,
  }),
  flow: z.strictObject({ sha256: sha256Schema, entrypoint: wordSchema }),
  executionModes: z.array(executionMode).min(1).refine(unique, { error: 'must have each mode once' }),
  contract: z.strictObject({
    inputSchema: jsonSchemaSchema,
    outputSchema: jsonSchemaSchema,
    inputMediaModes: z.array(mediaType).min(1),
    outputMediaModes: z.array(mediaType).min(1),
    capabilities: z.strictObject({ streaming: z.boolean().default(false) }).prefault({}),
    tasks: z.boolean().default(false),
  }),
  a2a: z
    .strictObject({
      protocolVersion: z.literal('1.0').default('1.0'),
      skills: z
        .array(
          z.strictObject({
            id: wordSchema,
            name: title,
            description: descriptionSchema,
            tags: z.array(title).min(1),
            examples: z.array(descriptionSchema).optional(),
          }),
        )
        .min(1),
    })
    .optional(),
  mcp: z
    .strictObject({
      toolName: toolNameSchema,
      title,
      description: descriptionSchema,
      annotations: z
        .strictObject({
          readOnlyHint: z.boolean().optional(),
          destructiveHint: z.boolean().optional(),
          idempotentHint: z.boolean().optional(),
          openWorldHint: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  guardrails: z.strictObject({ input: guardrail, output: guardrail }),
  files: z
    .strictObject({
      enabled: z.boolean(),
      mediaTypes: z.array(mediaType).default([]),
      maxBytes: within(flowLimits.manifest.fileBytes).default(flowLimits.manifest.fileBytes.default),
    })
    .prefault({ enabled: false }),
  limits: z
    .strictObject({
      requestBytes: within(flowLimits.manifest.requestBytes).default(flowLimits.manifest.requestBytes.default),
      timeoutMs: within(flowLimits.run.timeoutMs).default(flowLimits.manifest.timeoutMs),
      concurrency: within(flowLimits.manifest.concurrency).default(flowLimits.manifest.concurrency.default),
    })
    .prefault({}),
  requires: z
    .array(
      z.strictObject({
        kind: z.enum(['model', 'collection', 'connection', 'mcp', 'agent', 'memory', 'policy']),
        name: aliasSchema,
      }),
    )
    .default([]),
});

export type PublishManifest = z.infer<typeof manifestSchema>;

/** A publish manifest as an author may write it: `portcullis flow version` fills in the digest and the schemas of the flow. */
export const writtenManifestSchema = manifestSchema.extend({
  flow: manifestSchema.shape.flow.partial({ sha256: true }),
  contract: manifestSchema.shape.contract.partial({ inputSchema: true, outputSchema: true }),
});
