import type { IndexChange, IndexEntry, PartitionSource } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { anyOf, type Clause, valuesClauses } from './condition-filter.ts';
import type { Connection } from './connect-opensearch.ts';
import { createIndex } from './create-index.ts';
import { keywordOf } from './encode-values.ts';
import { aliasOf, documentIdOf, type IndexPlace, indexContent, routingOf } from './index-layout.ts';
import { type PartitionMark, readPartitionMark, writePartitionMark } from './partition-mark.ts';
import {
  deleteDocuments,
  type IndexDocument,
  refreshIndex,
  type WriteTarget,
  writeDocuments,
} from './write-documents.ts';

/** Number of groups of one deletion. */
const groupsAtOnce = 100;

/**
 * The state of a partition in an index that any number of processes write. Every document has the number of the change
 * that it reflects, and the index keeps the document with the largest number: a late or repeated write has no effect.
 * Only the mark records the change up to which the index is complete. It is written last, and only if it still equals
 * the mark that was read before. An index that loses documents also loses the mark, and the partition is loaded again.
 */
export class FollowedPartition {
  readonly target: WriteTarget;
  readonly #place: IndexPlace;
  readonly #source: PartitionSource;
  #appliedThrough: bigint | undefined;
  #following: Promise<void> | undefined;

  constructor(partition: string, place: IndexPlace, parts: { connection: Connection; source: PartitionSource }) {
    this.target = {
      connection: parts.connection,
      alias: aliasOf(place),
      routing: routingOf(partition),
      partition,
    };
    this.#place = place;
    this.#source = parts.source;
  }

  /** The number of the last applied change; undefined if it is not known, because it was not read yet or was lost. */
  get appliedThrough(): bigint | undefined {
    return this.#appliedThrough;
  }

  /** The index may have lost changes: its mark is read again. */
  distrust(): void {
    this.#appliedThrough = undefined;
  }

  /** Writes all committed changes to the index; concurrent calls share one reading. */
  follow(): Promise<void> {
    this.#following ??= this.#catchUp().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  async #catchUp(): Promise<void> {
    try {
      for (let isDone = false; !isDone; ) {
        const mark = (await readPartitionMark(this.target)) ?? (await this.#load(undefined));
        isDone = mark !== 'overtaken' && (await this.#applyAfter(mark));
      }
    } catch (error) {
      this.distrust();
      throw error;
    }
  }

  /** Applies the changes after a mark. Returns whether all are applied; otherwise the mark must be read again. */
  async #applyAfter(mark: PartitionMark): Promise<boolean> {
    this.#appliedThrough = mark.at;
    const found = await this.#source.changesAfter(this.target.partition, mark.at);
    if (found === undefined) throw new SearchUnavailableError('absent');
    if (found.kind === 'forgotten') {
      await this.#load(mark);
      return false;
    }
    if (found.upTo <= mark.at) return true;
    for await (const page of found.changes) await this.#apply(page, versionOf(found.upTo));
    const written = await writePartitionMark(this.target, found.upTo, mark);
    if (written === 'overtaken') return false;
    this.#appliedThrough = written.at;
    return !found.more;
  }

  async #load(before: PartitionMark | undefined): Promise<PartitionMark | 'overtaken'> {
    if (before === undefined) await createIndex(this.target, this.#place);
    const found = await this.#source.load(this.target.partition);
    if (found === undefined) throw new SearchUnavailableError('absent');
    const at = versionOf(found.upTo);
    for await (const page of found.entries) {
      await writeDocuments(this.target, this.#documents(page, at));
    }
    await refreshIndex(this.target);
    await deleteDocuments(this.target, { bool: { filter: [this.#own(), { range: { at: { lt: at } } }] } });
    return writePartitionMark(this.target, found.upTo, before);
  }

  async #apply(changes: readonly IndexChange[], at: number): Promise<void> {
    const puts = changes.flatMap((change) => (change.kind === 'put' ? [change.entry] : []));
    await writeDocuments(this.target, this.#documents(puts, at));
    const retained = changes.flatMap((change) => (change.kind === 'retain' ? [change] : []));
    if (retained.length > 0) await refreshIndex(this.target);
    for (let from = 0; from < retained.length; from += groupsAtOnce) {
      const ended = anyOf(retained.slice(from, from + groupsAtOnce).map(endedIn));
      await deleteDocuments(this.target, { bool: { filter: [this.#own(), { range: { at: { lte: at } } }, ended] } });
    }
  }

  *#documents(entries: readonly IndexEntry[], at: number): Generator<IndexDocument> {
    const { partition } = this.target;
    for (const entry of entries) {
      yield { id: documentIdOf(partition, entry.id), version: at, content: indexContent(partition, entry, at) };
    }
  }

  #own(): Clause {
    return { term: { partition: { value: keywordOf(this.target.partition) } } };
  }
}

/** The entries of a group that are not retained. */
function endedIn({ group, ids }: { readonly group: string; readonly ids: readonly string[] }): Clause {
  const filter = [{ term: { group: { value: keywordOf(group) } } }];
  return { bool: { filter, must_not: valuesClauses('id', ids) } };
}

/** A number of JSON: a partition would need a million changes a second for three centuries to leave its range. */
function versionOf(changeNo: bigint): number {
  if (changeNo < 0n || changeNo > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('a change number is out of range');
  return Number(changeNo);
}
