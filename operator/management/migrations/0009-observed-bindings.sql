-- The settings of each ModelBinding at its last look for the audit log, without values. A row stays after the deletion of
-- its ModelBinding.
create table observed_bindings (
  uid text primary key,
  name text not null,
  -- metadata.generation of the state; 0 before the first one.
  generation bigint not null,
  -- null before the first state, and after the deletion.
  state jsonb,
  deleted boolean not null default false
);
