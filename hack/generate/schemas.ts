import { z } from 'zod';
import { bundleSchema } from '#contracts/bundle';
import { classifierAnswerSchema, detectorAnswerSchema, detectorRequestSchema } from '#contracts/providers';
import { flowEvaluationSchema } from '#flow/cases/evaluation-schema';
import { flowTestsSchema } from '#flow/cases/flow-tests-schema';
import { flowSchema } from '#flow/definition/flow-schema';
import { writtenManifestSchema } from '#flow/definition/manifest-schema';

const schemas = [
  ['flow.v2', 'Source of a flow', flowSchema],
  ['publish-manifest.v2', 'Publish manifest of a flow, as its author writes it', writtenManifestSchema],
  ['flow-tests.v1', 'Tests of a flow', flowTestsSchema],
  ['flow-evaluation.v1', 'Judged cases of a flow', flowEvaluationSchema],
  ['bundle.v1', 'Policy bundle that a guardrail runtime loads', bundleSchema],
  ['detector.v1.request', 'What a guardrail runtime posts to a detector', detectorRequestSchema],
  ['detector.v1.answer', 'What a detector answers with HTTP 200', detectorAnswerSchema],
  ['classifier.v1.answer', 'What a classifier writes as the content of its chat completion', classifierAnswerSchema],
] as const;

/**
 * JSON Schemas (2020-12) of the files and messages that others write for the runtime. Rules that a schema cannot
 * express (ids used once, timeoutMs within deadlineMs, providers that exist, cost) are checked when a bundle is built
 * and loaded.
 */
export function generate(): ReadonlyMap<string, string> {
  return new Map(
    schemas.map(([name, title, schema]) => {
      const { $schema, ...body } = z.toJSONSchema(schema, { io: 'input', reused: 'ref' });
      return [`docs/schemas/${name}.json`, `${JSON.stringify({ $schema, title, ...body }, null, 2)}\n`];
    }),
  );
}
