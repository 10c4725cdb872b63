import type { Database } from '#sql/connect';
import { dropPeople, type LoadedIndex, partsOfPartition } from './memory-partition.ts';

/** Removes persons from the index in memory whose rows any replica has erased. */
export async function forgetErased({ sql }: Database, index: LoadedIndex): Promise<void> {
  const loaded = [...new Set(index.loaded().map((partition) => partsOfPartition(partition).person))];
  if (loaded.length === 0) return;
  const rows = await sql<{ person: string }[]>`
    select person from memory.people where person = any(${sql.array(loaded)}::bigint[])`;
  const present = new Set(rows.map(({ person }) => person));
  // A person who was added after the query is not among the rows, and must not be dropped.
  const gone = new Set(loaded.filter((person) => !present.has(person)));
  await dropPeople(index, (person) => gone.has(person));
}
