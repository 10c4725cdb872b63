import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import { aliasSchema, valueSchema, wordSchema } from '../definition/node-parts.ts';
import { expectationSchema } from './flow-tests-schema.ts';

/** Judged cases of a flow. Unlike tests, they call the models and services of a platform. */
export const flowEvaluationSchema = z.strictObject({
  apiVersion: z.literal('platform.low-code.flow-evaluation/v1'),
  cases: z
    .array(
      z
        .strictObject({
          name: z.string().min(1).max(flowLimits.name),
          entrypoint: wordSchema.optional().describe('The first one of the flow when absent.'),
          input: z.record(z.string(), valueSchema),
          files: z
            .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().min(1).max(4_096))
            .optional()
            .describe('Files by the member of the input that gets them. A path begins at the folder of this file.'),
          expect: expectationSchema.optional().describe('Each member, and each node, is judged with 0 or 1.'),
          reference: z
            .string()
            .min(1)
            .max(flowLimits.templateBytes)
            .optional()
            .describe('An expected answer: the score is the F1 of its words against the words of the result.'),
          judge: z
            .strictObject({
              model: aliasSchema.describe('Alias of the model that judges.'),
              criteria: z.string().min(1).max(flowLimits.description).describe('What a good answer does.'),
            })
            .optional()
            .describe('A model gives a score from 0 to 1.'),
        })
        .refine(({ expect, reference, judge }) => (expect ?? reference ?? judge) !== undefined, {
          error: 'must have expect, reference or judge',
        }),
    )
    .min(1)
    .max(flowLimits.testCases),
});

export type JudgedCase = z.infer<typeof flowEvaluationSchema>['cases'][number];
