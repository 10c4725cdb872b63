import { limits } from '#contracts/limits';
import type { PolicyReplace } from '#contracts/management';
import type { Section } from '#contracts/policy';

/**
 * The body of a PUT that saves a policy with the longest deadlines and rule timeouts that the contract allows, for
 * tests that count the requests that fail during a rollout: a check that a busy machine delays must not count.
 */
export function withLongestTimeouts({ name, description, status, definition }: PolicyReplace): PolicyReplace {
  const timeoutMs = limits.timeoutMs.max;
  const patient = ({ baseline, additional }: Section): Section => ({
    deadlineMs: limits.deadlineMs.max,
    baseline: baseline.map((rule) => ({ ...rule, timeoutMs })),
    additional: additional.map((rule) => ({ ...rule, timeoutMs })),
  });
  const { request, response } = definition;
  const patientDefinition = { ...definition, request: patient(request), response: patient(response) };
  return { name, description, status, definition: patientDefinition };
}
