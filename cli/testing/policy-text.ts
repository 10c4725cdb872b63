import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { PolicyCreate } from '#contracts/management';
import { checkout } from '../platform/data-directory.ts';

/** A small policy as YAML, with the given members inserted unchanged. */
export function policyManifest(changes: {
  readonly name?: string;
  readonly labels?: string;
  readonly request?: string;
  readonly response?: string;
  readonly providers?: string;
  readonly tests?: string;
}): string {
  const {
    name = 'small',
    labels = '{}',
    request = denyRule('term', 'forbidden'),
    response = denyRule('leak', 'internal'),
    providers = '[]',
    tests = '[]',
  } = changes;
  return `apiVersion: portcullis.dev/v1alpha1
kind: GuardrailPolicy
metadata: { name: ${name}, labels: ${labels} }
spec:
  displayName: Small
  description: ""
  lifecycle: Draft
  definition:
    request: { deadlineMs: 250, baseline: [${request}], additional: [] }
    response: { deadlineMs: 250, baseline: [${response}], additional: [] }
    providers: ${providers}
  tests: ${tests}
`;
}

/** The binding of the example as YAML, for another model and policy. @param revision of the policy; the newest if absent */
export function bindingManifest(name: string, policy: string, revision: number | undefined): string {
  const binding = parse(readFileSync(join(checkout, 'examples/guarded-chat/binding.yaml'), 'utf8'));
  binding.metadata.name = name;
  binding.spec.model.alias = name;
  binding.spec.guardrail.policyRef = { name: policy, ...(revision === undefined ? {} : { revision }) };
  return stringify(binding);
}

export function denyRule(id: string, term: string): string {
  return `{ id: ${id}, kind: stop_list, timeoutMs: 100, action: { type: deny }, stopList: { terms: [${term}], match: token, caseSensitive: false } }`;
}

export function patternRule(id: string, pattern: string): string {
  const regex = `{ engine: re2-1.1.20251105, pattern: '${pattern}', caseSensitive: true }`;
  return `{ id: ${id}, kind: regex, timeoutMs: 100, action: { type: deny }, regex: ${regex} }`;
}

/** A definition that denies one word. */
export function definitionOfWord(word: string): PolicyCreate['definition'] {
  const rule: PolicyCreate['definition']['request']['baseline'][number] = {
    id: 'word',
    kind: 'stop_list',
    timeoutMs: 100,
    action: { type: 'deny' },
    stopList: { match: 'token', caseSensitive: false, terms: [word] },
  };
  const section = { deadlineMs: 500, baseline: [rule], additional: [] };
  return { request: section, response: section, providers: [] };
}

/** The manifest of a policy that denies one word. */
export function manifestOfWord(name: string, word: string, metadata: object = {}): string {
  return stringify({
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'GuardrailPolicy',
    metadata: { name, ...metadata },
    spec: { displayName: name, description: '', lifecycle: 'Draft', definition: definitionOfWord(word) },
  });
}
