import { createHash } from 'node:crypto';
import type { IndexEntry } from '../../ports.ts';
import { attributeWords, keywordOf } from './encode-values.ts';

/** The place at which a partition is stored. The caller keeps it in its database. */
export type IndexPlace = {
  /**
   * Partitions of one prefix and number of dimensions share an index, so that partitions that must not share the
   * statistics of terms need different prefixes. A prefix has 1 to 100 lower-case letters, digits and dashes, and
   * begins with a letter or digit.
   */
  readonly prefix: string;
  /** The number of dimensions of the vectors, 1 to 16,000. */
  readonly dimensions: number;
  /**
   * Chosen at random when the place is first kept, and again after a backup of the database was restored, in the form
   * of a prefix: an index of an earlier state of the database is never used.
   */
  readonly generation: string;
};

/**
 * Increased when the mapping or the encoding of values changes: a new index is then built while the older one serves.
 */
const layout = 1;
const form = /^[a-z0-9][a-z0-9-]{0,99}$/;

/** The name by which an index is queried and written: an alias, so that a write never creates an index of that name. */
export function aliasOf({ prefix, dimensions, generation }: IndexPlace): string {
  if (!form.test(prefix) || !form.test(generation))
    throw new Error('a prefix or a generation of an index is malformed');
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > 16_000) {
    throw new Error(`an index of OpenSearch cannot have vectors of ${dimensions} dimensions`);
  }
  return `${prefix}-${dimensions}-${layout}-${generation}`;
}

/** The name of the index of an alias. */
export function indexBehind(alias: string): string {
  return `${alias}-index`;
}

/**
 * The definition of an index. There is no refresh interval: an explicit refresh makes written documents findable. The
 * source of documents is not kept, because an index is rebuilt from the database.
 */
export function indexDefinition(place: IndexPlace): Readonly<Record<string, unknown>> {
  const keyword = { type: 'keyword' };
  return {
    settings: {
      index: { knn: true, refresh_interval: '-1', number_of_shards: 1, auto_expand_replicas: '0-1' },
      analysis: { analyzer: { stemmed: { type: 'custom', tokenizer: 'blank' } }, tokenizer: { blank: blankTokenizer } },
    },
    mappings: {
      dynamic: 'strict',
      _source: { enabled: false },
      properties: {
        partition: { ...keyword, doc_values: false },
        id: keyword,
        group: { ...keyword, doc_values: false },
        labels: { ...keyword, doc_values: false },
        values: { ...keyword, doc_values: false },
        at: { type: 'long', store: true },
        terms: { type: 'text', analyzer: 'stemmed', index_options: 'freqs' },
        vector: {
          type: 'knn_vector',
          dimension: place.dimensions,
          method: { name: 'hnsw', engine: 'lucene', space_type: 'innerproduct', parameters: { m: 16 } },
        },
      },
    },
    aliases: { [aliasOf(place)]: {} },
  };
}

/** Terms have at most 128 code units, because the analyser of this module divides longer terms. */
const blankTokenizer = { type: 'whitespace', max_token_length: 1_024 };

/** The document with the number of the change up to which a partition is in the index. */
export function markOf(partition: string): string {
  return hash('mark', partition);
}

/**
 * All documents of a partition are in one shard, together with its mark: one refresh makes all of them visible at the
 * same time.
 */
export function routingOf(partition: string): string {
  return hash('routing', partition);
}

export function documentIdOf(partition: string, id: string): string {
  return hash('entry', partition, id);
}

/** One entry as a document that reflects the changes up to `at`. */
export function indexContent(partition: string, entry: IndexEntry, at: number): Readonly<Record<string, unknown>> {
  return {
    partition: keywordOf(partition),
    id: entry.id,
    group: keywordOf(entry.group),
    labels: entry.labels.map(keywordOf),
    values: attributeWords(entry.attributes),
    at,
    terms: entry.terms.join(' '),
    ...(entry.vector === undefined ? {} : { vector: Array.from(entry.vector) }),
  };
}

function hash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
