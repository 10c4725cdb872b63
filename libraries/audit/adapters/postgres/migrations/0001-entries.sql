-- The audit log: one chain of entries for each service. Rows are added and, by retention, removed from the start.
create table chains (
  chain text primary key,
  -- The last entry that retention removed; number 0 where nothing was removed.
  removed_number bigint not null default 0,
  removed_hash text not null,
  -- The newest entry. Its row is locked while an entry is added.
  number bigint not null default 0,
  hash text not null
);

create table entries (
  position bigint generated always as identity primary key,
  chain text not null references chains (chain),
  number bigint not null,
  previous text not null,
  hash text not null,
  -- Canonical JSON, exactly as it was hashed.
  content text not null,
  -- Names what was observed, so that two replicas that observe the same change record it once.
  source text,
  -- Read from the hashed content, so that a filter cannot differ from it. Times have one form and sort as text.
  time text not null generated always as (content::jsonb ->> 'time') stored,
  action text not null generated always as (content::jsonb ->> 'action') stored,
  outcome text not null generated always as (content::jsonb ->> 'outcome') stored,
  subject text generated always as (content::jsonb -> 'author' ->> 'subject') stored,
  target_id text generated always as (content::jsonb -> 'target' ->> 'id') stored,
  operation_id text generated always as (content::jsonb ->> 'operationId') stored,
  unique (chain, number)
);

create unique index entries_source on entries (chain, source) where source is not null;
create index entries_time on entries (time);
create index entries_subject on entries (subject, position);
create index entries_target on entries (target_id, position);
create index entries_operation on entries (operation_id) where operation_id is not null;

-- Entries are never changed, and removed by retention only.
create function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('portcullis.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'entries of the audit log are not changed' using errcode = '42501';
end
$$;
create trigger entries_append_only before update or delete on entries for each row execute function refuse_change();
create trigger entries_not_truncated before truncate on entries for each statement execute function refuse_change();
