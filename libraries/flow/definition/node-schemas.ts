import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import {
  aliasSchema,
  calling,
  containing,
  descriptionSchema,
  fallible,
  flowConditionSchema,
  jsonSchemaSchema,
  nodeIdSchema,
  sha256Schema,
  templateSchema,
  toolNameSchema,
  uuidV7Schema,
  valueSchema,
  within,
  wordSchema,
} from './node-parts.ts';

const { messages, tools, turns, maxTokens, topK, tokenBudget, iterations, width, branches, cases } = flowLimits;
const empty = z.strictObject({}).prefault({});
const record = z.record(z.string(), valueSchema);
const agentId = z.uuid();
const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const path = z
  .string()
  .regex(/^\/(?:[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\})?(?:\/(?:[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}))*\/?$/)
  .refine((value) => !value.split('/').some((segment) => segment === '.' || segment === '..'), {
    error: 'must not have a segment . or ..',
  })
  .describe('Path with {name} for segments out of inputs.path, which are encoded.');

const input = z.strictObject({
  id: nodeIdSchema,
  kind: z.literal('input'),
  description: descriptionSchema.optional(),
  config: z.strictObject({ fields: z.array(z.string().min(1)).min(1).optional() }).prefault({}),
});
const output = z.strictObject({
  id: nodeIdSchema,
  kind: z.literal('output'),
  description: descriptionSchema.optional(),
  inputs: z
    .strictObject({ text: valueSchema.optional(), data: valueSchema.optional() })
    .refine(({ text, data }) => text !== undefined || data !== undefined, { error: 'must have text or data' }),
  config: empty,
});
const fail = z.strictObject({
  id: nodeIdSchema,
  kind: z.literal('fail'),
  description: descriptionSchema.optional(),
  config: z.strictObject({ code: wordSchema, message: z.string().min(1).max(flowLimits.message) }),
});

/** A tool that a model may choose. The arguments of a collection and of an agent have a fixed schema. */
const tool = z.union([
  z.strictObject({
    name: toolNameSchema,
    description: descriptionSchema,
    parameters: jsonSchemaSchema,
    mcp: z.strictObject({ server: aliasSchema, tool: z.string().min(1).max(flowLimits.name) }),
  }),
  z.strictObject({
    name: toolNameSchema,
    description: descriptionSchema,
    parameters: jsonSchemaSchema,
    http: z.strictObject({ connection: aliasSchema, method, path }),
  }),
  z.strictObject({ name: toolNameSchema, description: descriptionSchema, agent: z.strictObject({ agentId }) }),
  z.strictObject({
    name: toolNameSchema,
    description: descriptionSchema,
    retrieval: z.strictObject({ collection: aliasSchema, topK: within(topK).default(topK.default) }),
  }),
]);
export type PromptTool = z.infer<typeof tool>;

const prompt = z.strictObject({
  ...calling,
  kind: z.literal('prompt'),
  config: z.strictObject({
    model: aliasSchema,
    messages: z
      .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: templateSchema }))
      .min(1)
      .max(messages),
    parameters: z
      .strictObject({
        temperature: z.number().min(0).max(2).optional(),
        topP: z.number().min(0).max(1).optional(),
        maxTokens: within(maxTokens).optional(),
        seed: z.int().optional(),
      })
      .prefault({}),
    responseSchema: jsonSchemaSchema.optional(),
    stream: z.boolean().default(false),
    tools: z.array(tool).min(1).max(tools).optional(),
    maxTurns: within(turns).optional(),
  }),
});
const template = z.strictObject({
  ...fallible,
  kind: z.literal('template'),
  config: z.strictObject({ text: templateSchema }),
});
const transform = z.strictObject({ ...fallible, kind: z.literal('transform'), inputs: record });
const retrieval = z.strictObject({
  ...calling,
  kind: z.literal('retrieval'),
  inputs: z.strictObject({ query: valueSchema, filters: valueSchema.optional() }),
  config: z.strictObject({
    collection: aliasSchema,
    mode: z.enum(['hybrid', 'vector', 'bm25']).optional(),
    topK: within(topK).default(topK.default),
    rerank: z.boolean().default(false),
    pack: z.strictObject({ tokenBudget: within(tokenBudget) }).optional(),
  }),
});
const memorySearch = z.strictObject({
  ...calling,
  kind: z.literal('memory_search'),
  inputs: z.strictObject({ query: valueSchema }),
  config: z.strictObject({ topK: within(topK).default(topK.default) }).prefault({}),
});
const memoryAdd = z.strictObject({
  ...calling,
  kind: z.literal('memory_add'),
  inputs: z.strictObject({ text: valueSchema }),
  config: z.strictObject({ infer: z.boolean().default(true) }).prefault({}),
});
const sessionGet = z.strictObject({ ...calling, kind: z.literal('session_get'), config: empty });
const sessionPut = z.strictObject({
  ...calling,
  kind: z.literal('session_put'),
  inputs: z.strictObject({ state: valueSchema }),
  config: empty,
});
const guardrail = z.strictObject({
  ...calling,
  kind: z.literal('guardrail'),
  inputs: z.strictObject({ text: valueSchema }),
  config: z.strictObject({ policy: aliasSchema, stage: z.enum(['request', 'response']) }),
});
const condition = z.strictObject({
  ...fallible,
  kind: z.literal('condition'),
  config: z.strictObject({
    cases: z
      .array(z.strictObject({ name: wordSchema, when: flowConditionSchema }))
      .min(1)
      .max(cases),
    default: wordSchema,
  }),
});
const parallel = z.strictObject({
  ...containing,
  kind: z.literal('parallel'),
  config: z.strictObject({
    branches: z.array(nodeIdSchema).min(branches.min).max(branches.max),
    concurrency: within(width).default(width.max),
  }),
});
const loop = z.strictObject({
  ...containing,
  kind: z.literal('loop'),
  inputs: z.strictObject({ items: valueSchema }).optional(),
  config: z.strictObject({
    while: flowConditionSchema.optional(),
    body: nodeIdSchema,
    maxIterations: within(iterations),
    concurrency: within(width).default(1),
    state: record.optional(),
    onLimit: z.enum(['fail', 'end']).default('fail'),
  }),
});
const toolHttp = z.strictObject({
  ...calling,
  kind: z.literal('tool_http'),
  inputs: z
    .strictObject({ path: record.optional(), query: record.optional(), body: valueSchema.optional() })
    .prefault({}),
  config: z.strictObject({ connection: aliasSchema, method, path, responseSchema: jsonSchemaSchema.optional() }),
});
const toolMcp = z.strictObject({
  ...calling,
  kind: z.literal('tool_mcp'),
  inputs: z.strictObject({ arguments: valueSchema }).prefault({ arguments: {} }),
  config: z.strictObject({ server: aliasSchema, tool: z.string().min(1).max(flowLimits.name) }),
});
const agent = z.strictObject({
  ...calling,
  kind: z.literal('agent'),
  inputs: z
    .strictObject({ text: valueSchema.optional(), data: valueSchema.optional() })
    .refine(({ text, data }) => text !== undefined || data !== undefined, { error: 'must have text or data' }),
  config: z.strictObject({ agentId, version: z.uuid().optional() }),
});
const file = z.strictObject({
  ...calling,
  kind: z.literal('file'),
  inputs: z.strictObject({ fileId: valueSchema }),
  config: z.strictObject({ use: z.enum(['text', 'provider']) }),
});
const subflow = z.strictObject({
  ...containing,
  kind: z.literal('subflow'),
  inputs: record.default({}),
  config: z.strictObject({ flowId: uuidV7Schema, sha256: sha256Schema, entrypoint: wordSchema }),
});

/** Every kind of node of `platform.low-code.flow/v2`. */
export const nodeSchema = z.discriminatedUnion('kind', [
  input,
  output,
  prompt,
  template,
  transform,
  retrieval,
  memorySearch,
  memoryAdd,
  sessionGet,
  sessionPut,
  guardrail,
  condition,
  parallel,
  loop,
  toolHttp,
  toolMcp,
  agent,
  file,
  fail,
  subflow,
]);

export type FlowNode = z.infer<typeof nodeSchema>;
export type NodeKind = FlowNode['kind'];
export type NodeOf<Kind extends NodeKind> = Extract<FlowNode, { readonly kind: Kind }>;
