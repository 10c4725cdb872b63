-- Memories of people, the events that make them, and states of sessions (docs/design/memory.md).
create table people (
  person bigint generated always as identity primary key,
  tenant text not null,
  -- Issuer and subject as a JSON array.
  user_key text not null,
  -- Number of the newest committed change of what a search of this person finds. A transaction raises it under the lock
  -- of the row, which it holds to its end, so that numbers commit in order.
  change_no bigint not null default 0,
  -- Rows of memories that ended with this number or before it may be gone.
  forgotten_through bigint not null default 0,
  unique (tenant, user_key)
);

create table memories (
  memory_id uuid primary key,
  person bigint not null references people (person) on delete cascade,
  agent_id text,
  run_id text,
  text text not null,
  hash text not null,
  -- Equal for texts that say the same: case, blanks and punctuation do not count.
  sameness text not null,
  -- What the statement is about; a later statement about it replaces this one. Null where that is not known.
  topic text,
  role text not null,
  categories text[] not null default '{}',
  metadata jsonb not null default '{}',
  source jsonb,
  tokens integer not null,
  terms text not null,
  -- Float32, little-endian; null while no embedder answered, empty where the gateway refused the text.
  vector bytea,
  -- The profile of the vector.
  profile_id text,
  -- Raised by each change of the text: an entry of the index has one text for ever.
  version integer not null default 1,
  change_no bigint not null,
  expires_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create index memories_of_person on memories (person, memory_id);
create index memories_changes on memories (person, change_no);
create index memories_sameness on memories (person, sameness) where deleted_at is null;
create index memories_expiry on memories (expires_at) where deleted_at is null and expires_at is not null;
create index memories_without_vector on memories (memory_id) where deleted_at is null and vector is null;

create table history (
  entry bigint generated always as identity primary key,
  entry_id uuid not null,
  memory_id uuid not null references memories (memory_id) on delete cascade,
  person bigint not null references people (person) on delete cascade,
  event text not null check (event in ('ADD', 'UPDATE', 'DELETE')),
  old_text text,
  new_text text,
  event_id uuid,
  created_at timestamptz not null default clock_timestamp()
);

create index history_of_memory on history (memory_id, entry);
create index history_of_person on history (person, entry);

create table events (
  event_id uuid primary key,
  person bigint not null references people (person) on delete cascade,
  -- The order in which the adds of a person take effect.
  seq bigint generated always as identity,
  agent_id text,
  run_id text,
  infer boolean not null,
  metadata jsonb not null default '{}',
  categories text[] not null default '{}',
  expires_at timestamptz,
  -- Removed when the event ends.
  messages jsonb,
  idempotency_key text,
  -- Of the body, to tell a repeated request from another one with the same key.
  digest text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  -- Claims. Writes of an earlier claim are refused.
  attempt integer not null default 0,
  -- Claims that ended with a death of the worker or a defect.
  deliveries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  unavailable_since timestamptz,
  memory_ids uuid[] not null default '{}',
  decisions jsonb not null default '[]',
  error text,
  trace_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create unique index events_keys on events (person, idempotency_key) where idempotency_key is not null;
create index events_open on events (person, seq) where status in ('PENDING', 'RUNNING');
create index events_due on events (due_at) where status in ('PENDING', 'RUNNING');

create table sessions (
  person bigint not null references people (person) on delete cascade,
  session_id text not null,
  state jsonb not null,
  expires_at timestamptz not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (person, session_id)
);

create index sessions_expiry on sessions (expires_at);

-- Erasures hold no text and no name: `person_digest` is SHA-256 of tenant and user, so that a restore of an older backup
-- can be followed by the same erasures.
create table erasures (
  confirmation_id uuid primary key,
  tenant text not null,
  person_digest text not null,
  memories integer not null,
  history_entries integer not null,
  events integer not null,
  sessions integer not null,
  erased_at timestamptz not null default clock_timestamp()
);

-- Deletions by filter, without what they deleted.
create table deletions (
  confirmation_id uuid primary key,
  person bigint not null references people (person) on delete cascade,
  deleted_count integer not null,
  cancelled_events integer not null,
  deleted_at timestamptz not null default clock_timestamp()
);
