import { fieldPath, readShape } from '#contracts/read-shape';
import { guardrailPolicySpecSchema } from '#resources/guardrail-policy';
import { fitsIntoRevision, maxStoredBytes } from './fits-into-revision.ts';

/**
 * The reasons why a policy cannot become a revision, one sentence each; empty if it is accepted. Only the structure is
 * checked.
 */
export function acceptanceProblems(spec: unknown): readonly string[] {
  const read = readShape(guardrailPolicySpecSchema, spec);
  if (!read.ok) return read.problems.map(({ path, message }) => `${fieldPath(['spec', ...path])} ${message}`);
  const { definition, tests } = read.value;
  if (fitsIntoRevision(definition, tests)) return [];
  const sentence = `exceeds, together with spec.tests, ${maxStoredBytes} bytes in the store of a cluster`;
  return [`spec.definition: ${sentence}: split the policy or shorten its lists`];
}
