-- Rows of deleted memories stay for ever, so what lists, counts and decisions read of a person must not grow with them
-- (docs/design/memory.md, "Deletion"). This file locks no other table: a process of an earlier release, which runs meanwhile,
-- locks a person and then writes a memory.

-- Live memories, and expired ones until maintenance deletes them.
create index memories_live on memories (person, memory_id) where deleted_at is null;
create index memories_topics on memories (person, topic) where deleted_at is null and topic is not null;

-- Scopes with equal keys are almost always equal. The ids themselves would be too long for an entry of an index.
create function scope_key(agent_id text, run_id text) returns bigint language sql immutable parallel safe as $$
  select hashtextextended(coalesce(agent_id, '') || chr(10) || coalesce(run_id, ''), 0)
$$;

-- The deleted memory that says the same as a statement, or is about its topic, and was stated last.
create index memories_deleted_sameness on memories (person, scope_key(agent_id, run_id), sameness, stated_at)
  where deleted_at is not null;
create index memories_deleted_topics on memories (person, scope_key(agent_id, run_id), topic, stated_at)
  where deleted_at is not null and topic is not null;
