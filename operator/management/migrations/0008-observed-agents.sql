-- The state of each Agent at its last entry in the audit log. A row stays after the deletion of its Agent.
create table observed_agents (
  uid text primary key,
  name text not null,
  -- metadata.generation of the state; 0 before the first entry.
  generation bigint not null,
  -- null before the first entry, and after the deletion.
  state jsonb,
  deleted boolean not null default false
);
