-- Indices in OpenSearch (docs/design/retrieval-search.md, OpenSearch). Without OpenSearch both tables are empty.

-- The name of the indices of one life of this database: a restored or copied database has another one.
create table opensearch_generations (
  life text primary key,
  generation text not null
);

-- Where the entries of a version are or were. A row stays after its collection, until nothing is left in OpenSearch.
create table opensearch_places (
  collection_id uuid not null,
  version integer not null,
  prefix text not null,
  dimensions integer not null check (dimensions > 0),
  generation text not null,
  -- Since when the place is not used; a process that was late may have written to it afterwards.
  left_at timestamptz,
  primary key (collection_id, version, prefix, dimensions, generation)
);

create unique index opensearch_places_used on opensearch_places (collection_id, version) where left_at is null;
create index opensearch_places_left on opensearch_places (left_at) where left_at is not null;
