-- Collections, their documents and the jobs that bring documents into them (docs/design/retrieval-ingest.md).
create table collections (
  collection_id uuid primary key,
  tenant text not null,
  name text not null,
  description text not null default '',
  collection_type text not null check (collection_type in ('knowledge_base', 'documents', 'files')),
  parent_id uuid references collections (collection_id),
  visibility text not null check (visibility in ('private', 'public')),
  acl_model text not null check (acl_model in ('document', 'collection')),
  empty_acl_policy text not null check (empty_acl_policy in ('reject', 'strictest')),
  -- UTF-16 units.
  chunk_size integer not null check (chunk_size > 0),
  chunk_overlap integer not null check (chunk_overlap >= 0 and chunk_overlap < chunk_size),
  retrieval_defaults jsonb not null default '{}',
  -- The profile of the active version; only the switch of a reindex changes it.
  embedding_profile_id text not null,
  status text not null default 'created' check (status in ('created', 'populating', 'ready', 'deleted', 'error')),
  active_version integer not null default 1,
  -- Number of the newest committed change of what a query of this collection finds. Raised by the last statement of a
  -- transaction, so that numbers commit in order.
  change_no bigint not null default 0,
  doc_count integer not null default 0 check (doc_count >= 0),
  chunk_count integer not null default 0 check (chunk_count >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index collections_names on collections (tenant, name) where status <> 'deleted';

-- Index versions of a collection. One is active; at most one is being built.
create table index_versions (
  collection_id uuid not null references collections (collection_id) on delete cascade,
  number integer not null,
  embedding_profile_id text not null,
  state text not null check (state in ('active', 'building', 'retired', 'failed')),
  -- Claims of the building worker; writes of an earlier claim are refused.
  attempt integer not null default 0,
  -- A building version: the end of the lease or of the pause before the next attempt.
  due_at timestamptz not null default now(),
  unavailable_since timestamptz,
  -- Progress of a building version, in live documents.
  documents_total integer not null default 0,
  documents_done integer not null default 0,
  failure_code text,
  failure text,
  created_at timestamptz not null default now(),
  -- When the version became active, retired or failed.
  ended_at timestamptz,
  -- Whether the chunks of a retired or failed version are removed.
  cleared boolean not null default false,
  primary key (collection_id, number)
);

create unique index index_versions_active on index_versions (collection_id) where state = 'active';
create unique index index_versions_building on index_versions (collection_id) where state = 'building';
create index index_versions_due on index_versions (due_at) where state = 'building';
create index index_versions_uncleared on index_versions (ended_at) where state in ('retired', 'failed') and not cleared;

-- One row for each doc_id of a collection, kept as a tombstone after a delete, so that a sequence number is never used twice.
create table documents (
  doc bigint generated always as identity primary key,
  tenant text not null,
  collection_id uuid not null references collections (collection_id) on delete cascade,
  doc_id text not null,
  -- Of the newest accepted job.
  last_seq bigint not null default 0,
  last_op text check (last_op in ('upsert', 'delete')),
  -- Raised when a job has another op than the one before it: an equal job of an earlier epoch is no duplicate.
  op_epoch bigint not null default 0,
  -- Of the newest job that took effect; 0 before the first.
  live_seq bigint not null default 0,
  -- Whether there is nothing to find: before the first upsert took effect, and after a delete.
  deleted boolean not null default true,
  -- collections.change_no of the newest change of this document: followers of a collection read it again in this order.
  change_no bigint not null default 0,
  -- Who may see the document.
  labels text[] not null default '{}',
  title text,
  source_url text,
  metadata jsonb not null default '{}',
  valid_from timestamptz,
  valid_until timestamptz,
  -- After masking. Offsets of chunks point into it, in UTF-16 units.
  text text not null default '',
  ranges jsonb not null default '[]',
  policy_revision text,
  available_at timestamptz,
  unique (collection_id, doc_id)
);

create index documents_changes on documents (collection_id, change_no);
create index documents_live on documents (collection_id, doc) where not deleted;

-- Chunks under the sequence number and the version that they were made for. A query takes those of live_seq and the
-- active version only; all others are not yet or no longer visible.
create table chunks (
  doc bigint not null references documents (doc) on delete cascade,
  seq bigint not null,
  version integer not null,
  no integer not null,
  chunk_id text not null,
  start_at integer not null,
  end_at integer not null,
  heading text,
  page integer,
  text text not null,
  tokens integer not null,
  -- Stemmed terms of title, heading and text in their order, separated by one space.
  terms text not null,
  -- Float32, little-endian.
  vector bytea not null,
  primary key (doc, seq, version, no)
);

create unique index chunks_ids on chunks (chunk_id);

-- A document whose chunks are complete in a version.
create table indexed_documents (
  doc bigint not null references documents (doc) on delete cascade,
  version integer not null,
  seq bigint not null,
  chunk_count integer not null,
  primary key (doc, version)
);

create table jobs (
  job_id uuid primary key,
  tenant text not null,
  collection_id uuid not null references collections (collection_id) on delete cascade,
  -- As submitted: a name or an id.
  collection text not null,
  doc bigint not null references documents (doc) on delete cascade,
  doc_id text not null,
  seq bigint not null,
  op text not null check (op in ('upsert', 'delete')),
  op_epoch bigint not null,
  content_hash text not null,
  idempotency_key text not null,
  -- Who may see the document once this job took effect.
  labels text[] not null,
  -- The staged object; kept as the record of its address after the object is deleted.
  payload_key text,
  payload_uri text,
  payload_bytes bigint,
  staged boolean not null,
  -- Whether nothing is left to remove: replaced chunks and, where it is not kept, the staged object.
  settled boolean not null default false,
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'DONE', 'FAILED')),
  -- Claims, also those that ended because a dependency was away. Writes of an earlier claim are refused.
  attempt integer not null default 0,
  -- Claims that ended without an answer; the sixth makes the job a dead letter.
  deliveries integer not null default 0,
  -- When the job may be claimed: its beginning, the end of its lease, or retry_at.
  due_at timestamptz not null default now(),
  -- Set while the job waits for a dependency.
  retry_at timestamptz,
  unavailable_since timestamptz,
  failure_code text,
  failure text,
  dead_lettered_at timestamptz,
  trace_id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  available_at timestamptz,
  unique (doc, seq),
  unique (doc, op_epoch, content_hash, idempotency_key),
  check ((status = 'DONE') = (available_at is not null)),
  check ((status = 'FAILED') = (failure_code is not null)),
  check (dead_lettered_at is null or status = 'FAILED'),
  check ((op = 'upsert') = (payload_key is not null))
);

create index jobs_due on jobs (due_at) where status in ('PENDING', 'RUNNING');
create index jobs_open on jobs (collection_id, doc) where status in ('PENDING', 'RUNNING');
create index jobs_unsettled on jobs (updated_at) where not settled and status in ('DONE', 'FAILED');
create index jobs_dead_letters on jobs (tenant, collection_id, dead_lettered_at) where dead_lettered_at is not null;
