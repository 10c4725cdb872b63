import type { Metrics } from '#kit/metrics/metrics';

/** Work that waits in the tables of an installation. */
type Waiting = {
  /** Items that have not ended. */
  readonly open: number;
  /** Age of the oldest waiting item, seconds; 0 if none is waiting. */
  readonly oldestSeconds: number;
};

type BacklogOptions = {
  /** Second part of the name of the metric about the database, such as `memory`. */
  readonly service: string;
  readonly names: { readonly open: string; readonly oldest: string };
  /** The items with the end of their sentence: `Events that are neither SUCCEEDED nor FAILED`. */
  readonly items: string;
  /** Name of one waiting item: `event that is neither SUCCEEDED nor FAILED`. */
  readonly item: string;
};

/**
 * Declares the gauges of every service whose workers take items out of a table. While the database does not answer, the
 * gauges of the items keep their values.
 * @returns a function that takes the result of reading the table; undefined if the database did not answer
 */
export function createBacklogMetrics(
  registry: Metrics,
  { service, names, items, item }: BacklogOptions,
): (found: Waiting | undefined) => void {
  const open = registry.gauge({ name: names.open, help: `${items}.`, labels: {} });
  const oldest = registry.gauge({ name: names.oldest, help: `Age of the oldest ${item}; 0 without one.`, labels: {} });
  const answers = registry.gauge({
    name: `portcullis_${service}_database_answers`,
    help: '1 if the database answered at this scrape and lacks no table, else 0.',
    labels: {},
  });
  return (found) => {
    answers.set({}, found === undefined ? 0 : 1);
    if (found === undefined) return;
    open.set({}, found.open);
    oldest.set({}, found.oldestSeconds);
  };
}
