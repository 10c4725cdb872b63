-- When a source was added: one that can be observed no longer is removed after its entry.
alter table sources add column added_at timestamptz not null default now();
create index sources_added on sources (chain, added_at);
