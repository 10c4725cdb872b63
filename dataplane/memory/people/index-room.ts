import type { Sql, TransactionSql } from '#sql/connect';

/** The share of the index that the memories of one person may need: replaced memories take up to a third of it. */
const shareOfPerson = 2 / 3;

/** The share of the index that the memories of one person may use. */
export type IndexRoom = {
  /** Estimated bytes; more are refused. */
  readonly mostBytes: number;
  /** Dimension of the vectors that are still to be made; 0 without a profile. */
  readonly dimension: number;
};

/** @param indexBytes the bound of the index, beyond which the memories of a person are not served */
export function indexRoomOf(indexBytes: number, dimension: number | undefined): IndexRoom {
  return { mostBytes: Math.floor(indexBytes * shareOfPerson), dimension: dimension ?? 0 };
}

/** The memories of a person would need more of the index than one person may use. The change was not stored. */
export class IndexFullError extends Error {
  constructor() {
    super('the memories of the user fill the index: delete memories');
    this.name = 'IndexFullError';
  }
}

/** Estimated bytes of the index for the live memories of a person (docs/design/memory.md, "The bound of the index"). */
export async function readIndexBytes(
  sql: Sql | TransactionSql,
  person: string,
  { dimension }: IndexRoom,
): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (index_bytes + without_vector::bigint * ${dimension}::int)::float8 as bytes
    from memory.people where person = ${person}`;
  return row?.bytes ?? 0;
}

/**
 * Makes a change in the transaction of the person. A change that needs less of the index than before is always made.
 * @throws IndexFullError if the memories need more and exceed the bound; the transaction must be rolled back
 */
export async function withinIndexRoom<T>(
  sql: TransactionSql,
  person: string,
  room: IndexRoom,
  change: () => Promise<T>,
): Promise<T> {
  const before = await readIndexBytes(sql, person, room);
  const changed = await change();
  const after = await readIndexBytes(sql, person, room);
  if (after > before && after > room.mostBytes) throw new IndexFullError();
  return changed;
}
