-- Windows in which commands on a policy or model are refused.
create table freezes (
  freeze_id uuid primary key,
  target_type text not null check (target_type in ('policy', 'model')),
  target_id uuid not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  check (ends_at > starts_at)
);

create index freezes_ends on freezes (ends_at);

-- Policies and models whose freeze windows refuse the command, as type:id; null for a command that no window refuses.
alter table operations add column objects text[];
-- Whether the command takes effect although a window was in force when it was stored.
alter table operations add column overrides_freeze boolean not null default false;
