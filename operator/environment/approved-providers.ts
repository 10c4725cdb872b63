import type { BundleProvider } from '#contracts/bundle';
import { type Definition, providerOf, type Rule, rulesInOrder } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';

type ModelProvider = Extract<ApprovedProvider, { kind: 'model' }>;

export type ResolvedProviders =
  | { readonly kind: 'resolved'; readonly providers: readonly BundleProvider[] }
  | { readonly kind: 'unknown'; readonly message: string };

/** The upstream of that name, if the environment approves one. */
export function findUpstream(approved: readonly ApprovedProvider[], name: string): ModelProvider | undefined {
  return approved.find((entry): entry is ModelProvider => entry.kind === 'model' && entry.name === name);
}

/**
 * The entries of the approved list that a policy names, ordered by name. A name that is not approved, has another
 * credential, is of the wrong kind for a rule, or is used without being listed is saved with the policy and fails
 * its application (DESIGN section 5).
 */
export function resolveProviders(approved: readonly ApprovedProvider[], definition: Definition): ResolvedProviders {
  const found = new Map<string, BundleProvider>();
  for (const reference of definition.providers) {
    const entry = approved.find((candidate) => candidate.name === reference.name && candidate.kind !== 'model');
    if (entry === undefined || entry.kind === 'model') {
      return unknown(`the provider ${reference.name} of the policy is not approved in this environment`);
    }
    if (entry.credential !== reference.credentialRef.name) {
      return unknown(
        `the policy names the credential ${reference.credentialRef.name} for the provider ${entry.name}; approved is ${entry.credential}`,
      );
    }
    found.set(entry.name, entry);
  }
  const misused = [definition.request, definition.response]
    .flatMap(rulesInOrder)
    .flatMap((rule) => misuseOf(rule, found) ?? [])[0];
  if (misused !== undefined) return unknown(misused);
  const providers = [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'resolved', providers };
}

function misuseOf(rule: Rule, found: ReadonlyMap<string, BundleProvider>): string | undefined {
  const name = providerOf(rule);
  if (name === undefined) return undefined;
  const wanted = rule.kind === 'llm_classifier' ? 'classifier' : 'detector';
  const entry = found.get(name);
  if (entry === undefined) return `the rule ${rule.id} names the provider ${name}, which the policy does not list`;
  if (entry.kind === wanted) return undefined;
  return `the rule ${rule.id} needs a ${wanted}; the provider ${name} is a ${entry.kind}`;
}

function unknown(message: string): ResolvedProviders {
  return { kind: 'unknown', message };
}
