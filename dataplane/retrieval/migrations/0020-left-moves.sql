-- When a move was stored: it is settled once its request can no longer arrive.
alter table collection_moves add column created_at timestamptz not null default clock_timestamp();
