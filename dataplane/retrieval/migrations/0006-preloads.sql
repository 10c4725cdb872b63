-- The change from which on a building version has every live document, so that it can be loaded and followed before the switch.
alter table index_versions add column complete_since bigint;

-- Replicas that load a complete version at present; a row counts until its time, so that a replica that dies delays nothing.
create table preloads (
  collection_id uuid not null,
  version integer not null,
  replica uuid not null,
  expires_at timestamptz not null,
  primary key (collection_id, version, replica),
  foreign key (collection_id, version) references index_versions (collection_id, number) on delete cascade
);
