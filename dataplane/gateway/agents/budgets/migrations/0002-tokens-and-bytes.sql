-- Tokens of models and bytes of bodies that the runs of one person with one agent have used in the current day (UTC).
alter table runs_of_person
  add column day_tokens bigint not null default 0,
  add column day_bytes bigint not null default 0;
