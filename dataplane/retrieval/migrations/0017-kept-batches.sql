-- SHA-256 of what the vectors of a batch of chunks were made from, in the first of these chunks: the next attempt of a job that
-- was broken off keeps the batch if it would write the same. Null in batches of an earlier release, which are written again.
-- This file locks no other table.
alter table chunks add column made_from bytea;
