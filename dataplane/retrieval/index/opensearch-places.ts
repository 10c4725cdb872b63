import { createHash, randomBytes } from 'node:crypto';
import type { IndexPlace } from '#search/adapters/opensearch/index-layout';
import type { Database } from '#sql/connect';
import { type IndexPartition, partitionName, readPartitionName } from './partition-name.ts';

type PlacesOptions = {
  /** Prefix of the index names. */
  readonly prefix: string;
  /** Number of dimensions of the vectors of a profile; undefined while the profile is not approved. */
  readonly dimensionsOf: (profileId: string) => number | undefined;
};

type LeftPlace = { readonly partition: string; readonly place: IndexPlace };

/**
 * The places of the partitions of collections in OpenSearch, stored in the database (docs/design/retrieval-search.md,
 * OpenSearch). Every method rejects with SqlUnavailableError while the database is unavailable.
 */
export type OpenSearchPlaces = {
  /**
   * The place of a partition, chosen at the first call; undefined if the partition does not exist and no place is
   * stored.
   */
  placeOf(partition: string): Promise<IndexPlace | undefined>;
  /** Records that the place of a partition is empty and no longer used. */
  leave(partition: string): Promise<void>;
  /**
   * Some of the partitions whose index is older than the newest change of their collection, each with the number of
   * that change.
   */
  behind(most: number): Promise<readonly { readonly partition: string; readonly newest: bigint }[]>;
  /** Records that the place of a partition reflects a change. */
  follow(partition: string, through: bigint): Promise<void>;
  /** Places that were left at least this many milliseconds ago. */
  leftFor(ms: number): Promise<readonly LeftPlace[]>;
  /** Deletes the record of a place that was left, after entries of late writers were removed from it. */
  forget(left: LeftPlace): Promise<void>;
};

type PlaceRow = IndexPlace & { readonly collectionId: string; readonly version: number };

export function openSearchPlaces(database: Database, { prefix, dimensionsOf }: PlacesOptions): OpenSearchPlaces {
  const { sql } = database;

  async function usedPlace({ collectionId, version }: IndexPartition): Promise<IndexPlace | undefined> {
    const [row] = await sql<IndexPlace[]>`
      select prefix, dimensions, generation from retrieval.opensearch_places
      where collection_id = ${collectionId} and version = ${version} and left_at is null`;
    return row;
  }

  return {
    async placeOf(name) {
      const partition = readPartitionName(name);
      const used = await usedPlace(partition);
      const found = await readLive(database, partition);
      // A partition that is not live keeps its place only for the removal of its entries.
      if (found === undefined) return used;
      const own = { prefix: `${prefix}-${found.owner}`, generation: await generationOf(database) };
      if (used?.prefix === own.prefix && used.generation === own.generation) return used;
      const dimensions = found.dimensions ?? dimensionsOf(found.profileId);
      if (dimensions === undefined) return undefined;
      await choosePlace(database, partition, { ...own, dimensions });
      return usedPlace(partition);
    },
    async leave(name) {
      const { collectionId, version } = readPartitionName(name);
      await sql`
        update retrieval.opensearch_places set left_at = clock_timestamp()
        where collection_id = ${collectionId} and version = ${version} and left_at is null`;
    },
    async behind(most) {
      // The rows are in random order, so that partitions that cannot be updated do not delay others.
      const rows = await sql<{ collectionId: string; version: number; newest: string }[]>`
        select p.collection_id as "collectionId", p.version, c.change_no as newest
        from retrieval.opensearch_places p join retrieval.collections c using (collection_id)
        where p.left_at is null and c.status <> 'deleted' and c.change_no > p.followed_through
        order by random() limit ${most}`;
      return rows.map(({ newest, ...partition }) => ({
        partition: partitionName(partition),
        newest: BigInt(newest),
      }));
    },
    async follow(name, through) {
      const { collectionId, version } = readPartitionName(name);
      await sql`
        update retrieval.opensearch_places set followed_through = greatest(followed_through, ${String(through)}::bigint)
        where collection_id = ${collectionId} and version = ${version} and left_at is null`;
    },
    async leftFor(ms) {
      // Finds places that a query chose between the removal of their version and the end of that round.
      await sql`
        update retrieval.opensearch_places p set left_at = clock_timestamp()
        where left_at is null and not exists (
          select from retrieval.index_versions v
          where v.collection_id = p.collection_id and v.number = p.version and not v.cleared)`;
      const rows = await sql<PlaceRow[]>`
        select collection_id as "collectionId", version, prefix, dimensions, generation from retrieval.opensearch_places
        where left_at <= clock_timestamp() - ${ms} * interval '1 millisecond' order by left_at`;
      return rows.map(({ collectionId, version, ...place }) => ({
        partition: partitionName({ collectionId, version }),
        place,
      }));
    },
    async forget({ partition, place }) {
      const { collectionId, version } = readPartitionName(partition);
      await sql`
        delete from retrieval.opensearch_places
        where collection_id = ${collectionId} and version = ${version} and prefix = ${place.prefix}
          and dimensions = ${place.dimensions} and generation = ${place.generation} and left_at is not null`;
    },
  };
}

type Live = {
  /** Digest of the tenant and the embedding profile: term statistics are computed for each index. */
  readonly owner: string;
  readonly profileId: string;
  /** Dimension of the stored vectors; undefined if the partition has no vectors. */
  readonly dimensions: number | undefined;
};

async function readLive({ sql }: Database, { collectionId, version }: IndexPartition): Promise<Live | undefined> {
  const [row] = await sql<{ tenant: string; profileId: string; dimensions: number | null }[]>`
    select c.tenant, v.embedding_profile_id as "profileId", (
      select octet_length(k.vector) / 4 from retrieval.documents d join retrieval.chunks k on k.doc = d.doc
      where d.collection_id = c.collection_id and k.version = v.number and octet_length(k.vector) > 0 limit 1
    ) as dimensions
    from retrieval.collections c join retrieval.index_versions v using (collection_id)
    where c.collection_id = ${collectionId} and c.status <> 'deleted' and v.number = ${version}
      and (v.state = 'active' or v.state = 'retired' and not v.cleared
        or v.state = 'building' and v.complete_since is not null)`;
  if (row === undefined) return undefined;
  const { tenant, profileId, dimensions } = row;
  const owner = createHash('sha256')
    .update(JSON.stringify([tenant, profileId]))
    .digest('hex')
    .slice(0, 24);
  return { owner, profileId, dimensions: dimensions ?? undefined };
}

async function choosePlace(
  database: Database,
  { collectionId, version }: IndexPartition,
  { prefix, dimensions, generation }: IndexPlace,
): Promise<void> {
  await database.sql.begin(async (sql) => {
    // A collection that is deleted meanwhile gets no place, because no process would empty the place; its deletion
    // waits for this transaction.
    const collections = await sql`
      select from retrieval.collections
      where collection_id = ${collectionId} and status <> 'deleted' for share`;
    // Concurrent processes choose the same place one after another.
    const versions = await sql`
      select from retrieval.index_versions
      where collection_id = ${collectionId} and number = ${version} and not cleared for update`;
    if (collections.length === 0 || versions.length === 0) return;
    await sql`
      update retrieval.opensearch_places set left_at = clock_timestamp()
      where collection_id = ${collectionId} and version = ${version} and left_at is null
        and (prefix, generation) <> (${prefix}, ${generation})`;
    await sql`
      insert into retrieval.opensearch_places (collection_id, version, prefix, dimensions, generation)
      select ${collectionId}, ${version}, ${prefix}, ${dimensions}, ${generation}
      where not exists (
        select from retrieval.opensearch_places
        where collection_id = ${collectionId} and version = ${version} and left_at is null)
      on conflict (collection_id, version, prefix, dimensions, generation) do update set left_at = null`;
  });
}

/**
 * The generation of the current life of the database. A life ends when an index may contain changes that the database
 * lacks: after a restored dump, a copy of the database, a point-in-time recovery or the promotion of a standby.
 */
async function generationOf(database: Database): Promise<string> {
  const { sql } = database;
  const [row] = await sql<{ life: string; generation: string | null }[]>`
    select life, generation from (
      select concat_ws('/', system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
        (select oid from pg_database where datname = current_database()),
        'retrieval.collections'::regclass::oid, pg_relation_filenode('retrieval.collections')) as life
      from pg_control_system()
    ) present left join retrieval.opensearch_generations using (life)`;
  if (row === undefined) throw new Error('PostgreSQL has no identity');
  if (row.generation !== null) return row.generation;
  await sql`
    insert into retrieval.opensearch_generations (life, generation)
    values (${row.life}, ${randomBytes(8).toString('hex')}) on conflict (life) do nothing`;
  return generationOf(database);
}
