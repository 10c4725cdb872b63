import type { Sql, TransactionSql } from '#sql/connect';

/** Bytes of a part: strings of 64 Ki characters, which the young generation of the heap holds. */
const bytesOfPart = 49_152;

type SegmentRow = {
  readonly number: number;
  /** The key of its vectors; null without vectors. */
  readonly vectorsKey: string | null;
  readonly ended: readonly number[];
  readonly bytes: Buffer;
};

type PartRow = {
  readonly packed_through: string;
  readonly segment: number;
  readonly profile_id: string | null;
  readonly bytes: number;
  /** The ended rows; null in all parts except the first. */
  readonly ended: readonly number[] | null;
  readonly part: number;
  readonly data: string;
};

/**
 * The segments of a person in one snapshot, and the number of the last change that they contain; undefined without
 * segments, or if memories were removed and the later changes do not show that.
 * @param liveBelow only segments with fewer live rows than this
 */
export async function readSegments(
  sql: Sql | TransactionSql,
  person: string,
  { liveBelow }: { readonly liveBelow?: number | undefined } = {},
): Promise<{ readonly upTo: bigint; readonly segments: readonly SegmentRow[] } | undefined> {
  const rows = await sql<PartRow[]>`
    select p.packed_through, s.segment, s.profile_id, s.bytes, case when d.part = 0 then s.ended end as ended, d.part, d.data
    from memory.people p join memory.segments s using (person) join memory.segment_parts d using (person, segment)
    where p.person = ${person} and p.packed_through >= p.forgotten_through
      and s.rows - cardinality(s.ended) < ${liveBelow ?? 2 ** 31 - 1}::int`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const segments = [...Map.groupBy(rows, ({ segment }) => segment).values()].map(joinParts);
  return { upTo: BigInt(first.packed_through), segments };
}

function joinParts(parts: readonly PartRow[]): SegmentRow {
  const { segment, profile_id, bytes } = parts[0] as PartRow;
  const joined = Buffer.allocUnsafeSlow(bytes);
  for (const { part, data } of parts) joined.write(data, part * bytesOfPart, 'base64');
  return { number: segment, vectorsKey: profile_id, ended: parts.flatMap(({ ended }) => ended ?? []), bytes: joined };
}

export type NewSegment = { readonly rows: number; readonly vectorsKey: string | undefined; readonly bytes: Buffer };

/** Stores the last segment of a person. */
export async function insertSegment(
  sql: TransactionSql,
  person: string,
  { rows, vectorsKey, bytes }: NewSegment,
): Promise<void> {
  const parts = Array.from({ length: Math.ceil(bytes.length / bytesOfPart) }, (_, part) =>
    bytes.subarray(part * bytesOfPart, (part + 1) * bytesOfPart).toString('base64'),
  );
  const [row] = await sql<{ segment: number }[]>`
    insert into memory.segments (person, segment, profile_id, rows, bytes)
    select ${person}, coalesce(max(segment), 0) + 1, ${vectorsKey ?? null}, ${rows}, ${bytes.length}
    from memory.segments where person = ${person} returning segment`;
  await sql`
    insert into memory.segment_parts (person, segment, part, data)
    select ${person}, ${(row as { segment: number }).segment}::int, at - 1, data
    from unnest(${sql.array(parts)}::text[]) with ordinality as part (data, at)`;
}
