-- What a deletion by filter reads must not grow with the other memories of the person, deleted ones included
-- (docs/design/memory.md, "Deletion"). Hashes, because the ids themselves would be too long for an entry of an index. Lists and
-- counts do not use these indexes: they read no deleted row. This file locks no other table.
create index memories_of_agent on memories (person, hashtextextended(agent_id, 0), memory_id) where agent_id is not null;
create index memories_of_run on memories (person, hashtextextended(run_id, 0), memory_id) where run_id is not null;
