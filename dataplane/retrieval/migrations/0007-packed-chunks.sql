-- Ids, terms and vectors of the chunks that were written together, in the form in which an index in memory takes them over
-- (docs/design/retrieval-search.md, "Loading"). Only the first of these chunks has it, so that it is removed with them. Chunks
-- without it, which an earlier release wrote, are read one by one.
alter table chunks add column packed bytea;
-- Vectors do not become smaller.
alter table chunks alter column packed set storage external;

create index chunks_packed on chunks (doc, seq, version, no) where packed is not null;
