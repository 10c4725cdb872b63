import { type AssembledBundle, assembleBundle } from '#contracts/assemble-bundle';
import type { Bundle, BundleLimits } from '#contracts/bundle';
import { type Definition, definitionSchema } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import type { PolicyRevisionSpec } from '#resources/policy-revision';

export type BuiltBundle = {
  readonly kind: 'built';
  /** The definition, as recorded in the revision. */
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
  const definition = definitionIn(revision);
  if (definition === undefined) {
    const message = 'the recorded definition is no longer valid';
    return { kind: 'refused', reason: 'bundle_invalid', message };
  }
  const assembled = assembleBundle({
    policyId: revision.policyId,
    revision: String(revision.number),
    definition,
    contentProfile,
    limits,
    approved,
  });
  if (assembled.kind === 'refused') return assembled;
  const { bundle, bytes, digest } = assembled;
  return { kind: 'built', definition, bundle, bytes, digest };
}

/** The content of each held revision, so that the passes of all bindings of a revision read it once. */
const read = new WeakMap<PolicyRevisionSpec, { readonly definition: Definition | undefined }>();

/** The definition of a revision; undefined if it is not valid. */
function definitionIn(revision: PolicyRevisionSpec): Definition | undefined {
  const known = read.get(revision);
  if (known !== undefined) return known.definition;
  const definition = definitionSchema.safeParse(jsonOrUndefined(revision.definition)).data;
  read.set(revision, { definition });
  return definition;
}
