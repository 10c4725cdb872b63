import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';

/** Numbers of a range of `flowLimits`, both ends included. */
export const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);

const idForm = /^[a-z][a-z0-9_-]{0,63}$/;
export const nodeIdSchema = z.string().regex(idForm).describe('Id of a node.');
/** Names that a flow defines. */
export const wordSchema = z.string().regex(idForm);
/** Names that the environment declares: model aliases, collections, connections, servers. */
export const aliasSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/);
/** 64 characters without dots, because many models accept no more for the names of their functions. */
export const toolNameSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
export const uuidV7Schema = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  .describe('A UUID of version 7, in lower case.');
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);
export const descriptionSchema = z.string().min(1).max(flowLimits.description);

/** A JSON value whose strings of the form `${…}` are expressions. */
export const valueSchema: z.ZodType<JsonValue> = z.json() as z.ZodType<JsonValue>;
/** A text with `{{…}}`. */
export const templateSchema = z.string().describe('A text; {{input.question}} is replaced by the value, once.');
/** A JSON Schema of 2020-12; the loader checks its keywords. */
export const jsonSchemaSchema = z.record(z.string(), valueSchema).describe('A JSON Schema of 2020-12.');

/** Errors after which another attempt can succeed. */
const retryCodes = ['timeout', 'unavailable', 'rate_limited', 'answer_invalid'] as const;

const retry = z
  .strictObject({
    maxAttempts: within(flowLimits.attempts),
    backoffMs: within(flowLimits.backoffMs).default(flowLimits.backoffMs.default),
    on: z.array(z.enum(retryCodes)).min(1).default(['timeout', 'unavailable', 'rate_limited']),
  })
  .describe('Further attempts after an error; pauses double, with jitter.');

/** Members of every node that can fail. */
export const fallible = {
  id: nodeIdSchema,
  description: descriptionSchema.optional(),
  onError: z
    .union([z.literal('fail'), z.strictObject({ goto: nodeIdSchema })])
    .default('fail')
    .describe('What follows an error of this node: the end of the run, or another node.'),
  outputSchema: jsonSchemaSchema.optional(),
};
const timeoutMs = within(flowLimits.timeoutMs);
/** Members of a node that calls a port. */
export const calling = {
  ...fallible,
  timeoutMs: timeoutMs.default(flowLimits.timeoutMs.default).describe('Time of one attempt.'),
  retry: retry.optional(),
};
/** Members of a node that contains other nodes. */
export const containing = { ...fallible, timeoutMs: timeoutMs.optional().describe('Time of the node as a whole.') };

/** A tree of comparisons; the operator is the only member of each object. */
export type ConditionSource =
  | { readonly [Operator in 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'in']?: readonly [JsonValue, JsonValue] }
  | { readonly matches: readonly [JsonValue, string] }
  | { readonly exists: string }
  | { readonly [Operator in 'and' | 'or']?: readonly ConditionSource[] }
  | { readonly not: ConditionSource };

const pair = z.tuple([valueSchema, valueSchema]);
export const flowConditionSchema: z.ZodType<ConditionSource> = z.lazy(() =>
  z.union([
    ...(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in'] as const).map((operator) => z.strictObject({ [operator]: pair })),
    z.strictObject({ matches: z.tuple([valueSchema, z.string()]) }),
    z.strictObject({ exists: z.string() }),
    ...(['and', 'or'] as const).map((operator) =>
      z.strictObject({ [operator]: z.array(flowConditionSchema).min(1).max(flowLimits.cases) }),
    ),
    z.strictObject({ not: flowConditionSchema }),
  ]),
) as z.ZodType<ConditionSource>;
