-- The stored text and metadata of the live documents of a collection, in bytes, for the quota of its tenant and the bound of
-- the index (docs/design/retrieval-ingest.md, "Quotas").
alter table collections add column text_bytes bigint not null default 0;

create function count_text() returns trigger language plpgsql as $$
begin
  update retrieval.collections c set text_bytes = c.text_bytes + d.bytes
  from (
    select collection_id, sum(bytes) as bytes from (
      select collection_id, octet_length(text) + octet_length(metadata::text) as bytes from added where not deleted
      union all
      select collection_id, -(octet_length(text) + octet_length(metadata::text)) from removed where not deleted) one
    group by collection_id) d
  where c.collection_id = d.collection_id and d.bytes <> 0;
  return null;
end $$;

create function uncount_text() returns trigger language plpgsql as $$
begin
  update retrieval.collections c set text_bytes = c.text_bytes - d.bytes
  from (
    select collection_id, sum(octet_length(text) + octet_length(metadata::text)) as bytes
    from removed where not deleted group by collection_id) d
  where c.collection_id = d.collection_id;
  return null;
end $$;

-- A new row has no text. The statements lock documents before their collection, as every transaction does.
create trigger documents_changed after update on documents
  referencing new table as added old table as removed for each statement execute function count_text();
create trigger documents_removed after delete on documents
  referencing old table as removed for each statement execute function uncount_text();

update collections c set text_bytes = d.bytes
from (
  select collection_id, sum(octet_length(text) + octet_length(metadata::text)) as bytes
  from documents where not deleted group by collection_id) d
where c.collection_id = d.collection_id;

create index jobs_staged_of_tenant on jobs (tenant) include (payload_bytes) where staged;
