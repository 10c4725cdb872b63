import { tenantIssuer } from '#identity/authorize-callers';
import { countTokens } from '#models/count-tokens';
import { vectorsKey } from '#models/vectors-key';
import { analyse } from '#search/analysis/analyse';
import type { Database } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { hashOf, samenessOf } from '../../dataplane/memory/extraction/sameness.ts';
import { packMemories } from '../../dataplane/memory/search/pack-memories.ts';
import { wordVector } from '../support/hashed-words.ts';
import { randomFrom } from '../support/random-from.ts';

export type StoreSize = {
  readonly dimension: number;
  /** Memories of the measured person, and of each of the `equals` persons. */
  readonly memories: number;
  readonly equals: number;
  /** Number of other persons, and number of memories of each of these persons. */
  readonly others: number;
  readonly memoriesOfOther: number;
  /** Persons with few memories. */
  readonly small: number;
};

export const scaleTenant = 'scale';
export const scaleProfile = 'scale';
/** The name of the measured person; the other persons are named `equal-N`, `other-N` and `small-N`. */
export const measured = 'measured';

/** Number of memories of the person `small-N`: none, or the first of all texts. */
export function memoriesOfSmall(n: number): number {
  return n % 6;
}

const migrations = new URL('../../dataplane/memory/migrations/', import.meta.url);
const batch = 100;
/** Noise that changes a vector but keeps it near the texts with the same words. */
const noise = 0.02;

const syllables = ['ba', 'ко', 'di', 'ма', 'fu', 'ре', 'lo', 'ни', 'sa', 'ту', 've', 'жо'];

/** Texts of words that occur in many of them; the same number is always the same text. */
export function scaleText(n: number): string {
  const random = randomFrom(n);
  const word = (): string => {
    const rank = Math.floor(random() ** 2 * 3_000);
    return [rank % 12, Math.floor(rank / 12) % 12, Math.floor(rank / 144) % 12, rank % 7]
      .map((at) => syllables[at])
      .join('');
  };
  return `${n} ${Array.from({ length: 6 + Math.floor(random() * 14) }, word).join(' ')}`;
}

/**
 * Writes memories as the service does, with terms, tokens and vectors. All persons have the same texts and vectors, so
 * that a search without a filter by person would find memories of others; each memory names its owner.
 */
export async function fillMemories(database: Database, size: StoreSize): Promise<void> {
  const { sql } = database;
  await migrate(database, { schema: 'memory', folder: migrations });
  const persons = [
    { name: measured, memories: size.memories },
    ...Array.from({ length: size.equals }, (_, at) => ({ name: `equal-${at}`, memories: size.memories })),
    ...Array.from({ length: size.others }, (_, at) => ({ name: `other-${at}`, memories: size.memoriesOfOther })),
    ...Array.from({ length: size.small }, (_, at) => ({ name: `small-${at}`, memories: memoriesOfSmall(at) })),
  ];
  const rows = persons.map(({ name, memories }) => ({
    key: JSON.stringify([tenantIssuer(scaleTenant), name]),
    memories,
  }));
  await sql`
    insert into memory.people (tenant, user_key, change_no)
    select ${scaleTenant}, key, memories
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (key text, memories bigint)`;
  await using patient = database.alone({ statementTimeoutMs: 600_000 });
  for (let from = 0; from < size.memories; from += batch) {
    const rows = Array.from({ length: Math.min(batch, size.memories - from) }, (_, at) => rowOf(from + at, size));
    await insertRows(patient, { rows: JSON.stringify(rows), from, key: keyOf(size) });
  }
  await patient.sql`vacuum analyze memory.memories`;
  await packAll(patient, keyOf(size));
}

/** The key of the vectors of the profile that `scale-service.ts` approves. */
function keyOf({ dimension }: StoreSize): string {
  const profile = { id: scaleProfile, model: 'words', dimension, sendDimension: false, passagePrefix: '' };
  return vectorsKey({ ...profile, batch: 64, maxTokens: 512, queryPrefix: '' });
}

/** Packs the memories as a worker does while they are written. */
async function packAll(database: Database, key: string): Promise<void> {
  await database.sql`insert into memory.packing select person from memory.people where change_no >= 256`;
  while ((await packMemories(database, key)) !== undefined);
  await database.sql`vacuum analyze memory.segments`;
}

function rowOf(n: number, { dimension }: StoreSize): object {
  const text = scaleText(n);
  const random = randomFrom(n);
  const vector = wordVector(text, dimension).map((value) => value + noise * (random() - 0.5));
  const norm = Math.hypot(...vector);
  const bytes = Buffer.from(vector.map((value) => value / norm).buffer);
  return {
    n,
    text,
    hash: hashOf(text),
    sameness: samenessOf(text),
    tokens: countTokens(text),
    terms: analyse(text).join(' '),
    vector: bytes.toString('base64'),
  };
}

/** Inserts the rows from this number on, of all persons interleaved, as adds over months would store them. */
async function insertRows(
  { sql }: Database,
  { rows, from, key }: { readonly rows: string; readonly from: number; readonly key: string },
): Promise<void> {
  await sql`
    insert into memory.memories (memory_id, person, agent_id, text, hash, sameness, role, categories, metadata, source,
      tokens, terms, vector, profile_id, change_no)
    select gen_random_uuid(), p.person, 'agent-' || r.n % 3, r.text, r.hash, r.sameness, 'user', array['kind-' || r.n % 5],
      json_build_object('owner', p.user_key::json ->> 1), json_build_object('event_id', gen_random_uuid(), 'message', 0,
        'start', 0, 'end', length(r.text), 'said_at', now()), r.tokens, r.terms, decode(r.vector, 'base64'), ${key}, r.n + 1
    from json_to_recordset(${rows}::text::json) as r (n integer, text text, hash text, sameness text, tokens integer,
      terms text, vector text)
    join (select person, user_key, change_no from memory.people where change_no > ${from}) p on r.n < p.change_no
    order by r.n, p.person`;
}
