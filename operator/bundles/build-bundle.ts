import { type Bundle, type BundleLimits, bundleSchema, bundleSchemaName } from '#contracts/bundle';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { limits as numbers } from '#contracts/limits';
import { definitionSchema } from '#contracts/policy';
import { isContentProfile } from '#contracts/profiles';
import type { ApprovedProvider } from '#contracts/providers';
import type { PolicyRevisionSpec } from '#crds/policy-revision';
import { resolveProviders } from '../environment/approved-providers.ts';

export type BuiltBundle = {
  readonly kind: 'built';
  readonly bundle: Bundle;
  /** Canonical JSON (RFC 8785). */
  readonly bytes: Buffer;
  readonly digest: string;
};

export type RefusedBundle = {
  readonly kind: 'refused';
  readonly reason: 'profile_unsupported' | 'provider_unknown' | 'bundle_invalid';
  readonly message: string;
};

export type BundleInput = {
  readonly revision: PolicyRevisionSpec;
  readonly contentProfile: string;
  readonly limits: BundleLimits;
  readonly approved: readonly ApprovedProvider[];
};

/** The bundle of one revision: the same content gives the same bytes and the same digest (DESIGN section 6.2). */
export function buildBundle(input: BundleInput): BuiltBundle | RefusedBundle {
  const { revision, contentProfile, limits, approved } = input;
  if (!isContentProfile(contentProfile)) {
    return refused('profile_unsupported', `the content profile ${contentProfile} is not supported`);
  }
  const definition = definitionSchema.safeParse(parseJson(revision.definition));
  if (!definition.success) return refused('bundle_invalid', 'the recorded definition is not a definition any more');
  const resolved = resolveProviders(approved, definition.data);
  if (resolved.kind === 'unknown') return refused('provider_unknown', resolved.message);
  const { request, response } = definition.data;
  const parsed = bundleSchema.safeParse({
    schema: bundleSchemaName,
    contentProfile,
    limits,
    policies: [{ id: revision.policyId, revision: String(revision.number), request, response }],
    providers: resolved.providers,
  });
  if (!parsed.success) {
    return refused('bundle_invalid', parsed.error.issues.map((issue) => issue.message).join('; '));
  }
  return sealed(parsed.data);
}

function sealed(bundle: Bundle): BuiltBundle | RefusedBundle {
  const plain = Buffer.byteLength(JSON.stringify(bundle), 'utf8');
  const bytes = canonicalBytes(bundle);
  const size = Math.max(plain, bytes.length);
  if (size > numbers.bundleBytes) {
    return refused('bundle_invalid', `the bundle has ${size} bytes; at most ${numbers.bundleBytes} are allowed`);
  }
  return { kind: 'built', bundle, bytes, digest: sha256Hex(bytes) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(reason: RefusedBundle['reason'], message: string): RefusedBundle {
  return { kind: 'refused', reason, message };
}
