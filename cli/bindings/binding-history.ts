import type { KubeClient } from '#kube/client/client';
import { applicationOutcome } from '#resources/binding-state';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import { tableOf } from '../output/write.ts';
import { readRevisionOfId } from '../revisions/read-revisions.ts';

/** One recorded application of a binding; `policy` and `revision` are null for an unbind. */
type BindingHistoryRow = {
  readonly time: string;
  readonly outcome: ApplicationRecord['outcome'];
  readonly reason: string | null;
  /** Name of the policy; its id where the revision is no longer recorded. */
  readonly policy: string | null;
  readonly revision: number | null;
  readonly author: string;
  readonly message: string;
  /** Whether the application serves requests now. */
  readonly serves: boolean;
  readonly contentProfile: string;
  readonly operationId: string;
};

/** The recorded applications of a binding, newest first: at most five are kept. */
export async function readBindingHistory(
  client: KubeClient,
  { status }: Stored<ModelBinding>,
): Promise<readonly BindingHistoryRow[]> {
  const served = status?.pinned?.generationId;
  const rows: BindingHistoryRow[] = [];
  for (const record of status?.applications ?? []) {
    const { time, outcome, reason, policyId, policyRevision, generationId, contentProfile, operationId } = record;
    rows.push({
      time,
      outcome,
      reason: reason ?? null,
      policy: await policyNameOf(client, policyId, policyRevision),
      revision: policyRevision ?? null,
      author: record.author ?? 'unknown',
      message: record.message ?? '',
      serves: generationId !== undefined && generationId === served,
      contentProfile,
      operationId,
    });
  }
  return rows;
}

/** A policy may be deleted; its revisions stay. */
async function policyNameOf(
  client: KubeClient,
  id: string | undefined,
  revision: number | undefined,
): Promise<string | null> {
  if (id === undefined || revision === undefined) return null;
  return (await readRevisionOfId(client, id, revision))?.spec.policy.name ?? id;
}

/** A table of the applications, and the state of the application without an outcome. */
export function bindingHistoryText(
  binding: Stored<ModelBinding>,
  rows: readonly BindingHistoryRow[],
  isWide: boolean,
): string {
  const shown = ['TIME', 'OUTCOME', 'POLICY', 'REVISION', 'SERVES', 'AUTHOR', 'MESSAGE'];
  const header = isWide ? [...shown, 'PROFILE', 'OPERATION'] : shown;
  const outcome = applicationOutcome(binding);
  const open = outcome.kind === 'pending' ? [`In progress: ${outcome.message}`] : [];
  if (rows.length === 0)
    return [`No application of the ModelBinding ${binding.metadata.name} is recorded.`, ...open].join('\n');
  return [tableOf([header, ...rows.map((row) => cellsOf(row, isWide))]), ...open].join('\n');
}

function cellsOf(row: BindingHistoryRow, isWide: boolean): readonly string[] {
  const { time, outcome, reason, policy, revision, serves, author, message, contentProfile, operationId } = row;
  const shown = [
    time,
    reason === null ? outcome : `${outcome} (${reason})`,
    policy ?? 'UNGUARDED',
    revision === null ? '-' : String(revision),
    serves ? 'yes' : '-',
    author,
    message || '-',
  ];
  return isWide ? [...shown, contentProfile, operationId] : shown;
}
