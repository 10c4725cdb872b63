import type { AttributeValue, IndexEntry } from '#search/ports';
import { vectorOfBase64 } from '#search/vector-text';
import type { Sql, TransactionSql } from '#sql/connect';
import { innerPath, metadataRoot } from './metadata-path.ts';

/** A memory as the statements that build the index select it. */
export type EntryRow = {
  readonly memory_id: string;
  readonly version: number;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly role: string;
  readonly categories: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly terms: string;
  readonly created: number;
  readonly updated: number;
  /** Base64; empty without a vector of the current profile. */
  readonly vector: string;
};

/** The columns of an EntryRow; vectors of a different key are left out. */
export function entryColumns(sql: Sql | TransactionSql, key: string | undefined) {
  return sql`
    memory_id, version, agent_id, run_id, role, categories, metadata, terms,
    extract(epoch from created_at)::float8 * 1000 as created, extract(epoch from updated_at)::float8 * 1000 as updated,
    coalesce(encode(case when profile_id = ${key ?? null}::text then vector end, 'base64'), '') as vector`;
}

/** Limits of the values that filters compare; values beyond them stay in the metadata. */
const attributeLimits = { members: 64, values: 64, valueLength: 1_024, depth: 5 } as const;

/** The id of an index entry; it changes with every later text or vector of the memory. */
export function entryId(memoryId: string, version: number): string {
  return `${memoryId}/${version}`;
}

export function memoryIdOf(entry: string): string {
  return entry.slice(0, entry.indexOf('/'));
}

/** Prefix of the lower-case forms that `icontains` compares. */
export const lowerPrefix = 'lower:';

export function memoryEntryOf(row: EntryRow): IndexEntry {
  return {
    id: entryId(row.memory_id, row.version),
    group: row.memory_id,
    labels: [],
    attributes: attributesOf(row),
    terms: row.terms === '' ? [] : row.terms.split(' '),
    ...(row.vector === '' ? {} : { vector: vectorOfBase64(row.vector) }),
  };
}

type Attributes = Record<string, AttributeValue | readonly AttributeValue[]>;

/**
 * The attributes that filters compare: scope, role, categories, times in milliseconds, metadata by paths, and which of
 * them are present.
 */
function attributesOf(row: EntryRow): IndexEntry['attributes'] {
  const { agent_id, run_id, role, categories, created, updated } = row;
  const attributes: Attributes = {
    role,
    categories,
    created_at: Math.floor(created),
    updated_at: Math.floor(updated),
  };
  if (agent_id !== null) attributes['agent_id'] = agent_id;
  if (run_id !== null) attributes['run_id'] = run_id;
  const isNamed = (path: string): boolean => path !== 'categories' || categories.length > 0;
  const members = {
    attributes,
    present: new Set(Object.keys(attributes).filter(isNamed)),
    left: attributeLimits.members,
  };
  addMembers(members, metadataRoot, row.metadata, 1);
  for (const path of Object.keys(attributes)) {
    const lower = lowerOf(attributes[path]);
    if (lower !== undefined) attributes[`${lowerPrefix}${path}`] = lower;
  }
  attributes['present'] = [...members.present];
  return attributes;
}

function lowerOf(
  value: AttributeValue | readonly AttributeValue[] | undefined,
): string | readonly string[] | undefined {
  if (typeof value === 'string') return value.toLowerCase();
  if (!Array.isArray(value)) return undefined;
  return value.filter((one) => typeof one === 'string').map((one: string) => one.toLowerCase());
}

type Members = {
  readonly attributes: Attributes;
  readonly present: Set<string>;
  /** How many more members may be added. */
  left: number;
};

/**
 * Adds the members of an object of metadata together with those of inner objects. An inner object itself counts as
 * present but has no value.
 */
function addMembers(into: Members, path: string, object: Readonly<Record<string, unknown>>, depth: number): void {
  for (const [key, value] of Object.entries(object)) {
    if (into.left === 0) return;
    const place = innerPath(path, key);
    if (value === null || (typeof value === 'string' && !isComparable(value))) continue;
    into.left -= 1;
    into.present.add(place);
    if (isComparable(value)) into.attributes[place] = value;
    else if (Array.isArray(value)) into.attributes[place] = value.filter(isComparable).slice(0, attributeLimits.values);
    else if (depth < attributeLimits.depth) addMembers(into, place, value as Record<string, unknown>, depth + 1);
  }
}

function isComparable(value: unknown): value is AttributeValue {
  if (typeof value === 'string') return value.length <= attributeLimits.valueLength;
  return typeof value === 'number' || typeof value === 'boolean';
}
