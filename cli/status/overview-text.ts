import type { Overview, OverviewModel } from '#contracts/overview';
import { unguarded } from '../output/resource-table.ts';
import { stateWords } from './status-text.ts';
import { type Column, textOfTable } from './text-of-table.ts';

const columns: readonly Column<OverviewModel>[] = [
  { header: 'BINDING', cell: ({ name }) => name },
  { header: 'ALIAS', cell: ({ alias }) => alias },
  { header: 'POLICY', cell: ({ wanted }) => wanted?.policy },
  { header: 'REVISION', cell: ({ wanted }) => wanted?.revision.toString() },
  { header: 'STATE', cell: ({ state }) => stateWords[state] ?? state },
  {
    header: 'SERVES',
    cell: ({ state, servesRevision }) => servesRevision ?? (state === 'unguarded' ? unguarded : '-'),
  },
  { header: 'REPLICAS', cell: confirmedReplicas },
  { header: 'GATEWAY', wide: true, cell: ({ gateway }) => gateway },
  { header: 'APPLIED BY', wide: true, cell: ({ appliedBy }) => appliedBy ?? undefined },
  { header: 'WHY', cell: ({ isWell, summary }) => (isWell ? undefined : summary) },
];

/** The models of a management API with the state that their gateway replicas enforce, as `status` prints them. Pure. */
export function overviewText({ models, deletingPolicies }: Overview, isWide: boolean): string {
  return [
    textOfTable(models, columns, isWide, 'There is no binding.'),
    ...(deletingPolicies.length === 0 ? [] : [`Policies that are being deleted: ${deletingPolicies.join(', ')}`]),
  ].join('\n\n');
}

/** Replicas that confirmed the current route, of those that are ready. */
function confirmedReplicas({ replicas }: OverviewModel): string {
  const ready = replicas.filter(({ state }) => state !== 'not_ready');
  return `${ready.filter(({ state }) => state === 'loaded').length}/${ready.length}`;
}
