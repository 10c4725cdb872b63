-- Since when an event waits for its delivery: an event that a replay opens again is older than its wait.
alter table outbox add column open_since timestamptz not null default clock_timestamp();
update outbox set open_since = occurred_at;
-- How often a replay opened the event, so that a delivery that began before a replay does not end it.
alter table outbox add column replays integer not null default 0;
