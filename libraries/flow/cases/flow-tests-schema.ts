import { z } from 'zod';
import { flowErrors } from '#contracts/flow-errors';
import { flowLimits } from '#contracts/flow-limits';
import { nodeIdSchema, valueSchema, wordSchema } from '../definition/node-parts.ts';
import { portErrorCodes } from '../engine/flow-error.ts';

const record = z.record(z.string(), valueSchema);
const answer = z
  .union([z.strictObject({ error: z.enum(portErrorCodes) }), record])
  .describe('What the call gets: an answer of its port, or {error} with a code.');
const errorCodes = Object.keys(flowErrors) as (keyof typeof flowErrors)[];

/** The expected end of a run, and the nodes that it must run. */
export const expectationSchema = z
  .strictObject({
    text: z.string().optional(),
    textContains: z.string().min(1).optional(),
    data: valueSchema.optional(),
    error: z.enum(errorCodes).optional(),
    flowCode: wordSchema.optional().describe('The code of the fail node that ends the run.'),
    runs: z.array(nodeIdSchema).optional().describe('Nodes that run.'),
    skips: z.array(nodeIdSchema).optional().describe('Nodes that do not run.'),
  })
  .refine((expected) => Object.values(expected).some((value) => value !== undefined), { error: 'must not be empty' })
  .refine(
    ({ text, textContains, data, error, flowCode }) => {
      const wantsResult = text !== undefined || textContains !== undefined || data !== undefined;
      return !wantsResult || (error === undefined && flowCode === undefined);
    },
    { error: 'must have either a result or an error' },
  );

/** Tests of a flow. Every call during a test is answered from this file only. */
export const flowTestsSchema = z.strictObject({
  apiVersion: z.literal('platform.low-code.flow-tests/v1'),
  tests: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(flowLimits.name),
        entrypoint: wordSchema.optional().describe('The first one of the flow when absent.'),
        input: record,
        context: record.default({}),
        answers: z
          .record(z.string(), z.union([z.array(answer), answer]))
          .default({})
          .describe(
            'By the id of a node, or NODE.TOOL for a tool of a prompt: one answer for every call, or a list, one for each.',
          ),
        expect: expectationSchema,
      }),
    )
    .min(1)
    .max(flowLimits.testCases),
});

export type FlowTest = z.infer<typeof flowTestsSchema>['tests'][number];
export type ScriptedAnswer = z.infer<typeof answer>;
