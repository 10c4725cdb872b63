import { fulfils } from '../condition.ts';
import type { CandidateQuery, IndexChange, IndexEntry, Leg } from '../ports.ts';

/** The entries that an index must find, computed by reading every entry. */
export class ExpectedSearch {
  readonly #partitions = new Map<string, Map<string, IndexEntry>>();

  apply(partition: string, changes: readonly IndexChange[]): void {
    const entries = this.#partitions.get(partition) ?? new Map<string, IndexEntry>();
    this.#partitions.set(partition, entries);
    for (const change of changes) {
      if (change.kind === 'put') entries.set(change.entry.id, change.entry);
      else {
        for (const [id, { group }] of entries) {
          if (group === change.group && !change.ids.includes(id)) entries.delete(id);
        }
      }
    }
  }

  /** Every id that a leg finds if its window is large enough, sorted. */
  found(query: Omit<CandidateQuery, 'reflects'>, leg: Leg): readonly string[] {
    const entries = [...(this.#partitions.get(query.partition)?.values() ?? [])];
    return entries
      .filter(({ labels }) => query.labels === 'every' || labels.some((label) => query.labels.includes(label)))
      .filter(({ attributes }) => query.condition === undefined || fulfils(attributes, query.condition))
      .filter((entry) => takesPart(entry, leg))
      .map(({ id }) => id)
      .sort();
  }
}

function takesPart(entry: IndexEntry, leg: Leg): boolean {
  return leg.kind === 'bm25' ? entry.terms.some((term) => leg.terms.includes(term)) : entry.vector !== undefined;
}
