-- When the person stated the text last, not later than the request that stored it. Null in rows that are older than the
-- column: their source names the time of their message.
alter table memories add column stated_at timestamptz;
