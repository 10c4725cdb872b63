import { type Bundle, type BundleLimits, type BundleProvider, bundleSchema, bundleSchemaName } from './bundle.ts';
import { canonicalBytes, sha256Hex } from './canonical.ts';
import { limits as numbers } from './limits.ts';
import { type Definition, providerOf, type Rule } from './policy.ts';
import { isContentProfile } from './profiles.ts';
import type { ApprovedProvider } from './providers.ts';
import { problemSentences, readShape } from './read-shape.ts';
import { effectiveSection, rulesOfDefinition } from './shared-rules.ts';

export type BundleInput = {
  readonly policyId: string;
  readonly revision: string;
  readonly definition: Definition;
  readonly contentProfile: string;
  readonly limits: BundleLimits;
  /** The approved providers of the environment; those that the definition names are copied into the bundle. */
  readonly approved: readonly ApprovedProvider[];
};

export type AssembledBundle =
  | {
      readonly kind: 'assembled';
      readonly bundle: Bundle;
      /** Canonical JSON (RFC 8785). */
      readonly bytes: Buffer;
      /** SHA-256 of the bundle's canonical bytes. */
      readonly digest: string;
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'profile_unsupported' | 'provider_unknown' | 'bundle_invalid';
      readonly message: string;
    };

/** Builds the bundle of one policy. The same content gives the same bytes and the same digest. */
export function assembleBundle(input: BundleInput): AssembledBundle {
  const { policyId, revision, definition, contentProfile, limits, approved } = input;
  if (!isContentProfile(contentProfile)) {
    return refused('profile_unsupported', `the content profile ${contentProfile} is not supported`);
  }
  const resolved = resolveProviders(approved, definition);
  if (resolved.kind === 'unknown') return refused('provider_unknown', resolved.message);
  const request = effectiveSection(definition, 'request');
  const response = effectiveSection(definition, 'response');
  const read = readShape(bundleSchema, {
    schema: bundleSchemaName,
    contentProfile,
    limits,
    policies: [{ id: policyId, revision, request, response }],
    providers: resolved.providers,
  });
  if (!read.ok) return refused('bundle_invalid', problemSentences(read.problems, 'the bundle'));
  return sealed(read.value);
}

function sealed(bundle: Bundle): AssembledBundle {
  const plain = Buffer.byteLength(JSON.stringify(bundle), 'utf8');
  const bytes = canonicalBytes(bundle);
  const size = Math.max(plain, bytes.length);
  if (size > numbers.bundleBytes) {
    return refused(
      'bundle_invalid',
      `the bundle has ${size} bytes; at most ${numbers.bundleBytes} are allowed: remove rules, or split the policy`,
    );
  }
  return { kind: 'assembled', bundle, bytes, digest: sha256Hex(bytes) };
}

type ResolvedProviders =
  | { readonly kind: 'resolved'; readonly providers: readonly BundleProvider[] }
  | { readonly kind: 'unknown'; readonly message: string };

/**
 * The entries of the approved list that a policy names, ordered by name. A name that is not approved, has another
 * credential, is of the wrong kind for a rule, or is used without being listed is unknown.
 */
function resolveProviders(approved: readonly ApprovedProvider[], definition: Definition): ResolvedProviders {
  const found = new Map<string, BundleProvider>();
  for (const [at, reference] of definition.providers.entries()) {
    const entry = approved.find((candidate) => candidate.name === reference.name && candidate.kind !== 'model');
    if (entry === undefined || entry.kind === 'model') {
      return unknown(
        `the provider ${reference.name} of the policy is not among the approved providers: name another one, or ask an administrator to approve it`,
      );
    }
    if (entry.credential !== reference.credentialRef.name) {
      return unknown(
        `spec.definition.providers[${at}].credentialRef.name is "${reference.credentialRef.name}", but "${entry.credential}" is the approved credential of the provider ${entry.name}: write that one there`,
      );
    }
    found.set(entry.name, entry);
  }
  const misused = rulesOfDefinition(definition).flatMap((rule) => misuseOf(rule, found, approved) ?? [])[0];
  if (misused !== undefined) return unknown(misused);
  const providers = [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'resolved', providers };
}

function misuseOf(
  rule: Rule,
  found: ReadonlyMap<string, BundleProvider>,
  approved: readonly ApprovedProvider[],
): string | undefined {
  const name = providerOf(rule);
  if (name === undefined) return undefined;
  const [wanted, otherKind] =
    rule.kind === 'llm_classifier'
      ? (['classifier', 'external_pipeline'] as const)
      : (['detector', 'llm_classifier'] as const);
  const suitable = approved.filter(({ kind }) => kind === wanted);
  const entry = found.get(name);
  if (entry === undefined) {
    const credential = suitable.find((one) => one.name === name)?.credential ?? 'CREDENTIAL';
    return `the rule ${rule.id} names the provider ${name}, which the policy does not list: add { name: ${name}, credentialRef: { name: ${credential} } } to spec.definition.providers, or correct the name in the rule`;
  }
  if (entry.kind === wanted) return undefined;
  const fault = `the rule ${rule.id} needs a ${wanted}, but the provider ${name} is a ${entry.kind}`;
  if (suitable.length > 0) return `${fault}: name an approved ${wanted} in the rule and in spec.definition.providers`;
  return `${fault}, and no ${wanted} is approved: add one to the approved providers, or write the rule with the kind ${otherKind}`;
}

function unknown(message: string): ResolvedProviders {
  return { kind: 'unknown', message };
}

function refused(reason: 'profile_unsupported' | 'provider_unknown' | 'bundle_invalid', message: string) {
  return { kind: 'refused', reason, message } as const;
}
