-- What maintenance reads, by index (docs/design/memory.md, "Maintenance").
alter table memories
  -- Attempts to make a vector that were answered with an invalid one, and the time before which there is no other.
  add column embed_failures integer not null default 0,
  add column embed_after timestamptz not null default '-infinity';

-- A memory without a vector has no profile. One with another profile than the present one is below it or above it.
create index memories_profiles on memories ((coalesce(profile_id, '')), embed_after) where deleted_at is null;
create index memories_delayed on memories (memory_id) where deleted_at is null and embed_failures > 0;
create index events_ended on events (updated_at) where status in ('SUCCEEDED', 'FAILED');
