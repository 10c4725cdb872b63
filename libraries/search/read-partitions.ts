import type { CommittedChanges, EntryBlock, IndexChange, IndexEntry, PartitionSource } from './ports.ts';

/**
 * Reads the tables of an index. A change of a group (its entries, their labels or attributes, its end) writes the
 * number of its transaction to the group's row. After the end of the group, the row is kept until `forgottenThrough`
 * reaches its number. Transactions of a partition take their numbers under a lock that they hold until their end, so
 * that numbers become visible in order.
 */
type PartitionReader<Cursor, BlockCursor> = {
  /** The numbers of a partition; undefined if there is no such partition. */
  numbers(partition: string): Promise<ChangeNumbers | undefined>;
  /** See `PartitionSource`. */
  leastBytes?(partition: string): Promise<number | undefined>;
  /** The next live entries in an order that does not change, about `size` of them, and where to continue. */
  page(
    partition: string,
    after: Cursor | undefined,
    size: number,
  ): Promise<{ readonly entries: readonly IndexEntry[]; readonly next: Cursor | undefined }>;
  /** The next live entries as blocks, in an order that does not change; absent where the tables have no blocks. */
  blocks?(
    partition: string,
    after: BlockCursor | undefined,
  ): Promise<{ readonly blocks: readonly EntryBlock[]; readonly next: BlockCursor | undefined }>;
  /**
   * The first groups whose change number is greater than `after`, in the order of their numbers: at least one if there
   * is any; about `size` at most, and fewer if they have many entries; and always every group of the last number. One
   * statement reads them.
   */
  changedGroups(partition: string, after: bigint, size: number): Promise<ChangedGroups>;
  /**
   * The live entries of groups, in pages of limited size. Pages may mix older and newer states, because a newer state
   * is a later change.
   */
  entriesOf(partition: string, groups: readonly string[]): AsyncIterable<readonly IndexEntry[]>;
};

type ChangedGroups = {
  readonly groups: readonly { readonly group: string; readonly changeNo: bigint }[];
  /** Whether groups with a larger number were left out; false only if there are none. */
  readonly more: boolean;
};

type ChangeNumbers = {
  /** The newest committed number. */
  readonly newest: bigint;
  /** Rows of groups that ended with this number or an earlier one were removed; 0 if no row was removed. */
  readonly forgottenThrough: bigint;
};

type ReadOptions = {
  /** Entries of a page of a load. */
  readonly pageSize: number;
  /** Maximum number of groups in one answer about changes, without the further groups of its last number. */
  readonly groupsAtOnce: number;
};

/** Reads partitions page by page and follows their changes. */
export function readPartitions<Cursor, BlockCursor = never>(
  reader: PartitionReader<Cursor, BlockCursor>,
  options: ReadOptions,
): PartitionSource {
  const { blocks, leastBytes } = reader;
  const loadBlocks: PartitionSource['loadBlocks'] =
    blocks &&
    (async (partition) => {
      const numbers = await reader.numbers(partition);
      const read = async (after: BlockCursor | undefined) => {
        const page = await blocks(partition, after);
        return { items: page.blocks, next: page.next };
      };
      return numbers && { upTo: numbers.newest, blocks: readAhead(read) };
    });

  return {
    ...(loadBlocks === undefined ? {} : { loadBlocks }),
    ...(leastBytes === undefined ? {} : { leastBytes }),
    async load(partition) {
      const numbers = await reader.numbers(partition);
      const read = async (after: Cursor | undefined) => {
        const page = await reader.page(partition, after, options.pageSize);
        return { items: page.entries, next: page.next };
      };
      return numbers && { upTo: numbers.newest, entries: readAhead(read) };
    },
    async changesAfter(partition, after): Promise<CommittedChanges | undefined> {
      // Read before the groups: they then include every change up to this number.
      const numbers = await reader.numbers(partition);
      if (numbers === undefined) return undefined;
      const { newest, forgottenThrough } = numbers;
      if (after < forgottenThrough) return { kind: 'forgotten' };
      if (newest === after) return { kind: 'changes', changes: noChanges(), upTo: after, more: false };
      const changed = await reader.changedGroups(partition, after, options.groupsAtOnce);
      const groups = changed.groups.map(({ group }) => group);
      const changes = groups.length === 0 ? noChanges() : changesOf(groups, reader.entriesOf(partition, groups));
      const last = changed.groups.at(-1)?.changeNo ?? after;
      // The numbers alone do not show this: a group that was left out may have changed again after they were read, and
      // then its earlier change is no longer in the tables.
      const { more } = changed;
      return { kind: 'changes', changes, upTo: more || last > newest ? last : newest, more };
    },
  };
}

/** Yields pages; each page is read while the previous one is used. */
async function* readAhead<Item, Cursor>(
  read: (after: Cursor | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: Cursor | undefined }>,
): AsyncGenerator<readonly Item[]> {
  let reading: ReturnType<typeof read> | undefined = read(undefined);
  while (reading !== undefined) {
    const { items, next }: Awaited<typeof reading> = await reading;
    reading = next === undefined ? undefined : read(next);
    // A reader that has stopped does not await it.
    reading?.catch(() => undefined);
    if (items.length > 0) yield items;
  }
}

async function* noChanges(): AsyncGenerator<readonly IndexChange[]> {}

/** Gives each group the entries that it has now, and removes its others. Keeps only the ids of the entries in memory. */
async function* changesOf(
  groups: readonly string[],
  pages: AsyncIterable<readonly IndexEntry[]>,
): AsyncGenerator<readonly IndexChange[]> {
  const idsOf = new Map(groups.map((group): [string, string[]] => [group, []]));
  for await (const page of pages) {
    for (const { group, id } of page) idsOf.get(group)?.push(id);
    yield page.map((entry) => ({ kind: 'put', entry }));
  }
  yield [...idsOf].map(([group, ids]) => ({ kind: 'retain', group, ids }));
}
