-- A packing that failed is tried again from this time on, after the persons who wait meanwhile.
alter table packing add column retry_at timestamptz not null default '-infinity';
create index packing_due on packing (retry_at, person);
