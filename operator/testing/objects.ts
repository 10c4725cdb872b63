import { type Definition, detectorContract, type Section } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import { apiVersion } from '#resources/kinds';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';

/** A section that denies one word. */
export function sectionOf(term: string): Section {
  return {
    deadlineMs: 500,
    baseline: [
      {
        id: 'forbidden',
        kind: 'stop_list',
        timeoutMs: 100,
        action: { type: 'deny' },
        stopList: { terms: [term], match: 'substring', caseSensitive: true },
      },
    ],
    additional: [],
  };
}

export function definitionOf(term: string): Definition {
  return { request: sectionOf(term), response: sectionOf(term), providers: [] };
}

/**
 * A definition with a rule that denies one word and a rule that calls the detector `spam` with the credential
 * `spam-key`.
 */
export function askingDefinitionOf(term: string): Definition {
  const section = sectionOf(term);
  const asks: Section['additional'][number] = {
    id: 'asks',
    kind: 'external_pipeline',
    mode: 'enforce',
    timeoutMs: 100,
    action: { type: 'deny' },
    externalPipeline: { provider: 'spam', contract: detectorContract },
  };
  return {
    request: { ...section, additional: [asks] },
    response: section,
    providers: [{ name: 'spam', credentialRef: { name: 'spam-key' } }],
  };
}

/** A policy that denies one word, with the given changes. */
export function policyObject(name: string, change: Partial<GuardrailPolicySpec> = {}): GuardrailPolicy {
  return {
    apiVersion,
    kind: 'GuardrailPolicy',
    metadata: { name },
    spec: { displayName: name, description: '', lifecycle: 'Draft', definition: definitionOf('portal'), ...change },
  };
}

/** A binding whose alias is its name, guarded by revision 1 of the policy `guard`, with the given changes. */
export function bindingObject(name: string, change: Partial<ModelBindingSpec> = {}): ModelBinding {
  return {
    apiVersion,
    kind: 'ModelBinding',
    metadata: { name },
    spec: {
      model: { alias: name, provider: 'echo', upstreamModel: 'echo', state: 'Enabled' },
      gateway: 'default',
      guardrail: { mode: 'Policy', policyRef: { name: 'guard', revision: 1 } },
      contentProfile: currentProfile,
      replicas: 1,
      ...change,
    },
  };
}

export function guardedBy(revision: number, name = 'guard'): ModelBindingSpec['guardrail'] {
  return { mode: 'Policy', policyRef: { name, revision } };
}
