import { type AssembledBundle, assembleBundle } from '#contracts/assemble-bundle';
import type { Bundle, BundleLimits } from '#contracts/bundle';
import { type Definition, definitionSchema } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';
import type { PolicyRevisionSpec } from '#resources/policy-revision';

export type BuiltBundle = {
  readonly kind: 'built';
  /** As recorded in the revision; parsed here once for all steps of a pass. */
  readonly definition: Definition;
  readonly bundle: Bundle;
  /** Canonical JSON (RFC 8785). */
  readonly bytes: Buffer;
  readonly digest: string;
};

export type RefusedBundle = Extract<AssembledBundle, { kind: 'refused' }>;

type BundleInput = {
  readonly revision: PolicyRevisionSpec;
  readonly contentProfile: string;
  readonly limits: BundleLimits;
  readonly approved: readonly ApprovedProvider[];
};

/** The bundle of one revision: the same content gives the same bytes and the same digest (docs/design/applications-and-routes.md). */
export function buildBundle(input: BundleInput): BuiltBundle | RefusedBundle {
  const { revision, contentProfile, limits, approved } = input;
  const definition = definitionSchema.safeParse(parseJson(revision.definition));
  if (!definition.success) {
    const message = 'the recorded definition is not valid any more';
    return { kind: 'refused', reason: 'bundle_invalid', message };
  }
  const assembled = assembleBundle({
    policyId: revision.policyId,
    revision: String(revision.number),
    definition: definition.data,
    contentProfile,
    limits,
    approved,
  });
  if (assembled.kind === 'refused') return assembled;
  const { bundle, bytes, digest } = assembled;
  return { kind: 'built', definition: definition.data, bundle, bytes, digest };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
