import { stringify } from 'yaml';
import { definitionSchema } from '#contracts/policy';
import { unifiedDiff } from '#kit/text/unified-diff';
import { createdAnnotation } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';

/** The difference between two revisions as YAML in the unified format; empty when they are equal. */
export function revisionDiff(before: Stored<PolicyRevision>, after: Stored<PolicyRevision>): string {
  return unifiedDiff(sideOf(before), sideOf(after));
}

/** The time at which a revision was recorded; a restored revision keeps the time of its first record. */
export function recordedAt({ metadata }: Stored<PolicyRevision>): string {
  return metadata.annotations?.[createdAnnotation] ?? metadata.creationTimestamp;
}

function sideOf(revision: Stored<PolicyRevision>): { readonly label: string; readonly text: string } {
  const { policy, number } = revision.spec;
  return { label: `${policy.name} revision ${number}\t${recordedAt(revision)}`, text: revisionText(revision.spec) };
}

/** A revision as YAML, with its members in the order of the documentation. Long lines are not folded. */
function revisionText(spec: PolicyRevisionSpec): string {
  const { displayName, description, lifecycle, refusalText, tests } = spec;
  const definition = inWrittenOrder(JSON.parse(spec.definition));
  const refusal = refusalText === undefined ? {} : { refusalText };
  const shown = {
    displayName,
    description,
    lifecycle,
    definition,
    ...refusal,
    ...(tests.length === 0 ? {} : { tests }),
  };
  return stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Canonical JSON sorts members by name; the order of the documentation comes from the schema. */
function inWrittenOrder(definition: unknown): unknown {
  const read = definitionSchema.safeParse(definition);
  return read.success ? read.data : definition;
}
