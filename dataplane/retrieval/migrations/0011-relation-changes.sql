-- Changes of relations in a store outside of this database, from before the change until its audit entry is committed.
-- A row that no transaction holds is left by a process that died, or by a store that did not answer.
create table relation_changes (
  change_id uuid primary key,
  object text not null,
  relation text not null,
  subject text not null,
  action text not null check (action in ('grant', 'revoke')),
  -- The entry of the audit log, as JSON.
  entry text not null,
  created_at timestamptz not null default clock_timestamp()
);

create index relation_changes_object on relation_changes (object);
