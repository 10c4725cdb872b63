import type { Database } from '#sql/connect';

type LoadedPeople = { loaded(): readonly string[]; drop(person: string): Promise<void> };

/** Removes persons from the index in memory whose rows any replica has erased. */
export async function forgetErased({ sql }: Database, index: LoadedPeople): Promise<void> {
  const loaded = index.loaded();
  if (loaded.length === 0) return;
  const rows = await sql<{ person: string }[]>`
    select person from memory.people where person = any(${sql.array([...loaded])}::bigint[])`;
  const present = new Set(rows.map(({ person }) => person));
  for (const person of loaded) if (!present.has(person)) await index.drop(person);
}
