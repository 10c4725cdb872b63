import { guardrailPolicySpecSchema } from '#resources/guardrail-policy';
import { fitsIntoRevision, maxStoredBytes } from './fits-into-revision.ts';

/** Why a policy cannot become a revision, one sentence each; empty if it is accepted. Only the structure is checked. */
export function acceptanceProblems(spec: unknown): readonly string[] {
  const parsed = guardrailPolicySpecSchema.safeParse(spec);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `spec.${path.join('.')}: ${message}`);
  const { definition, tests } = parsed.data;
  if (fitsIntoRevision(definition, tests)) return [];
  const sentence = `exceeds, together with spec.tests, ${maxStoredBytes} bytes in the store of a cluster`;
  return [`spec.definition: ${sentence}: split the policy or shorten its lists`];
}
