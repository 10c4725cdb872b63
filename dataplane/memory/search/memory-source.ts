import type { PackedSource } from '#search/adapters/packed/packed-partition';
import { readPartitions } from '#search/read-partitions';
import type { Database } from '#sql/connect';
import { partsOfPartition } from '../people/memory-partition.ts';
import { type EntryRow, entryColumns, memoryEntryOf } from './memory-entry.ts';
import { readSegments } from './segment-rows.ts';

const pageSize = 1_000;
const groupsAtOnce = 200;

/** The memories of a person with the vectors of one profile. The index is built from them and follows their changes. */
export function memorySource({ sql }: Pick<Database, 'sql'>): PackedSource {
  const entries = readPartitions<string>(
    {
      async numbers(partition) {
        const [row] = await sql<{ change_no: string; forgotten_through: string }[]>`
          select change_no, forgotten_through from memory.people where person = ${partsOfPartition(partition).person}`;
        return row && { newest: BigInt(row.change_no), forgottenThrough: BigInt(row.forgotten_through) };
      },
      async page(partition, after, size) {
        const { key, person } = partsOfPartition(partition);
        const rows = await sql<EntryRow[]>`
          select ${entryColumns(sql, key)} from memory.memories
          where person = ${person} and deleted_at is null
            and memory_id > ${after ?? '00000000-0000-0000-0000-000000000000'}
          order by memory_id limit ${size}`;
        const last = rows.at(-1);
        return { entries: rows.map(memoryEntryOf), next: rows.length < size ? undefined : last?.memory_id };
      },
      async changedGroups(partition, after, size) {
        const rows = await sql<{ memory_id: string; change_no: string }[]>`
          select memory_id, change_no from memory.memories
          where person = ${partsOfPartition(partition).person} and change_no > ${String(after)}::bigint
          order by change_no fetch first ${size} rows with ties`;
        const groups = rows.map(({ memory_id, change_no }) => ({ group: memory_id, changeNo: BigInt(change_no) }));
        return { groups, more: groups.length >= size };
      },
      async *entriesOf(partition, groups) {
        const { key, person } = partsOfPartition(partition);
        const rows = await sql<EntryRow[]>`
          select ${entryColumns(sql, key)} from memory.memories
          where person = ${person} and deleted_at is null and memory_id = any(${sql.array([...groups])}::uuid[])`;
        yield rows.map(memoryEntryOf);
      },
    },
    { pageSize, groupsAtOnce },
  );
  return {
    ...entries,
    segments: (partition) => currentSegments(sql, partition),
    async sizeOf(partition) {
      const [row] = await sql<{ bytes: number }[]>`
        select index_bytes::float8 as bytes from memory.people where person = ${partsOfPartition(partition).person}`;
      return row?.bytes;
    },
  };
}

/** Reads the stored segments; undefined if some of them have vectors of another profile. */
async function currentSegments(sql: Database['sql'], partition: string): ReturnType<PackedSource['segments']> {
  const { key = null, person } = partsOfPartition(partition);
  const found = await readSegments(sql, person);
  return found?.segments.every(({ vectorsKey }) => vectorsKey === key) === true ? found : undefined;
}
