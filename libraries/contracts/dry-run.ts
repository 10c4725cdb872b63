import { z } from 'zod';
import { operationFailures } from './management-errors.ts';

/** The checks of an application in the order in which it makes them. */
export const dryRunChecks = ['references', 'compile', 'cost', 'providers', 'tests'] as const;
export type DryRunCheck = (typeof dryRunChecks)[number];

/** Errors with which a command is refused that could be applied, in the order of their checks. */
const commandRefusals = ['change_frozen', 'approval_required'] as const;
const failureCodes = Object.keys(operationFailures) as [keyof typeof operationFailures];

/**
 * Response of a dry run: the answer of an application, to the extent that it can be determined before a runtime is
 * started.
 */
export const dryRunResultSchema = z
  .strictObject({
    wouldApply: z
      .boolean()
      .nullable()
      .describe(
        'false when a check failed or the command would be refused; null when neither is so and a check that is needed could not be made. Gateway replicas are not asked: only an application can do that.',
      ),
    error: z
      .strictObject({
        code: z.enum(failureCodes).describe('The code with which the operation would fail.'),
        message: z.string().describe('The meaning of the code.'),
        cause: z.string().describe('The rule, test or provider, and its problem, in the words of the conditions.'),
      })
      .nullable()
      .describe('The first failure; null when no check failed.'),
    checks: z
      .array(
        z.strictObject({
          check: z.enum(dryRunChecks),
          state: z
            .enum(['passed', 'failed', 'not_run', 'not_needed'])
            .describe('not_run: an earlier check failed, or this process cannot make the check.'),
          message: z.string().nullable().describe('Why it failed, was not run or is not needed; null when it passed.'),
        }),
      )
      .describe('The checks in their order; none for an unbind.'),
    refusals: z
      .array(
        z.strictObject({
          code: z.enum(commandRefusals),
          message: z.string().describe('The meaning of the code.'),
          details: z.array(z.strictObject({ path: z.string(), message: z.string() })),
        }),
      )
      .describe(
        'The errors with which the command would be refused now: a freeze window, an approval that is missing.',
      ),
    warnings: z.array(z.string()).describe('Warnings about rules that can be applied.'),
  })
  .describe('The outcome of a dry run. Nothing was written.');

export type DryRunRefusal = DryRunResult['refusals'][number];
export type DryRunResult = z.output<typeof dryRunResultSchema>;
