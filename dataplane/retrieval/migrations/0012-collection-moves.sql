-- Moves of collections whose parents are in a store outside of this database, from before the change until its audit entry
-- is committed. A row that is found under the lock of the parents of its tenant is left by a process that died, or by a
-- store that did not answer.
create table collection_moves (
  collection_id uuid primary key references collections (collection_id) on delete cascade,
  tenant text not null,
  parent_id uuid references collections (collection_id),
  -- The entry of the audit log, as JSON.
  entry text not null
);

create index collection_moves_tenant on collection_moves (tenant);
