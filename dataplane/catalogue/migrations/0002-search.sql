-- Whether several resources claim the id of the agent, so that none of them is shown.
alter table agents add column is_contested boolean not null default false;

-- What a search finds of an agent. A workspace is a partition of the index (docs/design/catalogue.md).
create table workspaces (
  workspace text primary key,
  -- Number of the newest committed change. A transaction raises it under the lock of the row, which it holds to its end, so
  -- that numbers commit in order.
  change_no bigint not null
);

create table entries (
  workspace text not null references workspaces (workspace),
  agent_id uuid not null,
  -- Whether the agent is active and still in this workspace; the row stays, so that indexes learn of its end.
  is_listed boolean not null,
  protocol text not null,
  implementation_type text not null,
  passage text not null,
  terms text not null,
  -- Float32, little-endian; null while no embedder answered, empty where the gateway refused the text.
  vector bytea,
  -- The profile of the vector.
  profile_id text,
  change_no bigint not null,
  primary key (workspace, agent_id)
);

create index entries_changes on entries (workspace, change_no);
create index entries_of_agent on entries (agent_id);
create index entries_without_vector on entries (workspace, agent_id) where is_listed and vector is null;
