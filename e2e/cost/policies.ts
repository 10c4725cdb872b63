import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Bundle, defaultBundleLimits } from '#contracts/bundle';
import { type BaselineRule, type Definition, definitionSchema, type Section } from '#contracts/policy';
import { root } from '../../hack/check/run-tool.ts';
import { bundle, type Policy, policy, quiet, regex, section } from '../../runtime/testing/build-bundle.ts';

/** The example limits of the contract: a stage deadline of 250 ms and rule timeouts of 20 ms (`guardrail:limits:*`). */
export const exampleTimeoutMs = 20;
const exampleDeadlineMs = 250;
/** The largest deadline and timeout. */
export const largestTimeoutMs = 5_000;

/** A section whose rules have one timeout, and the corresponding deadline. */
export function timedSection(rules: readonly BaselineRule[], timeoutMs: number): Section {
  const deadlineMs = timeoutMs === largestTimeoutMs ? largestTimeoutMs : Math.max(exampleDeadlineMs, timeoutMs);
  return { ...section(rules.map((rule) => ({ ...rule, timeoutMs }))), deadlineMs };
}

/** A policy whose request section has these patterns and whose response section matches no text. */
export function patternPolicy(
  id: string,
  patterns: readonly { readonly pattern: string; readonly caseSensitive: boolean }[],
  timeoutMs: number,
): Policy {
  const rules = patterns.map(({ pattern, caseSensitive }, at) => regex(`rule-${at}`, pattern, caseSensitive));
  return policy(timedSection(rules, timeoutMs), section([quiet]), id);
}

export function bundleAt(policies: readonly Policy[], maxBodyBytes: number): Bundle {
  return bundle(policies, { limits: { ...defaultBundleLimits, maxBodyBytes } });
}

type NamedDefinition = { readonly name: string; readonly definition: Definition };

/** The example policies of a folder. */
export function examplePolicies(folder: string): readonly NamedDefinition[] {
  return readdirSync(join(root, 'examples', folder))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => parse(readFileSync(join(root, 'examples', folder, file), 'utf8')))
    .filter(({ kind }) => kind === 'GuardrailPolicy')
    .map(({ metadata, spec }) => ({ name: metadata.name, definition: definitionSchema.parse(spec.definition) }));
}

export function bundlePolicyOf({ name, definition: { request, response } }: NamedDefinition): Policy {
  return policy(request, response, name);
}

/** The given policy with another timeout of its rules and the largest deadline. */
export function withRuleTimeout({ name, definition }: NamedDefinition, timeoutMs: number): NamedDefinition {
  const changed = (one: Section): Section => ({
    deadlineMs: largestTimeoutMs,
    baseline: one.baseline.map((rule) => ({ ...rule, timeoutMs })),
    additional: one.additional.map((rule) => ({ ...rule, timeoutMs })),
  });
  const { request, response, providers } = definition;
  return { name, definition: { request: changed(request), response: changed(response), providers } };
}

/** The rules of all request sections in one section. */
export function joined(policies: readonly NamedDefinition[], deadlineMs: number): Policy {
  const rules = policies.flatMap(({ definition }) => definition.request.baseline);
  return policy({ ...timedSection(rules, exampleTimeoutMs), deadlineMs }, section([quiet]), 'joined');
}
