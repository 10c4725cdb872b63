import type { OverviewModel } from '#contracts/overview';
import { tableOf } from '../output/write.ts';

/** A model as the management API explains it: the words of `why` over resources, with the state of each replica. Pure. */
export function overviewModelText({ summary, whatToDo, serves, appliedBy, replicas }: OverviewModel): string {
  return [
    summary,
    ...(whatToDo === null ? [] : [`What to do: ${whatToDo}`]),
    `Served now: ${serves}.`,
    ...(appliedBy === null ? [] : [`Applied by: ${appliedBy}`]),
    '',
    replicas.length === 0
      ? 'No gateway replica reports.'
      : `Gateway replicas:\n${tableOf(replicas.map(({ name, state }) => [`  ${name}`, state.replace('_', ' ')]))}`,
  ].join('\n');
}
