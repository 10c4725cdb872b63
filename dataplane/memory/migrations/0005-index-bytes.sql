-- An estimate of what the index needs for the live memories of a person (docs/design/memory.md, "The bound of the index").
alter table people
  add column index_bytes bigint not null default 0,
  -- Live memories whose vector is still to be made.
  add column without_vector integer not null default 0;

-- Not less than the bytes of the row in a segment that shares no term and no value with it.
create function index_bytes_of(
  terms text, vector bytea, agent_id text, run_id text, categories text[], metadata jsonb
) returns bigint language sql stable as $$
  select 200
    + octet_length(terms) + 10 * (length(terms) - length(replace(terms, ' ', '')) + 1)
    + coalesce(octet_length(vector) / 4, 0)
    + 2 * (coalesce(octet_length(agent_id), 0) + coalesce(octet_length(run_id), 0) + 24)
    + 2 * (octet_length(categories::text) + 10 * cardinality(categories))
    + 4 * octet_length(metadata::text)
    + 176 * least(64, length(metadata::text) - length(replace(metadata::text, ':', '')))
$$;

create function count_added() returns trigger language plpgsql as $$
begin
  update memory.people p set index_bytes = p.index_bytes + d.bytes, without_vector = p.without_vector + d.missing
  from (
    select person, count(*) filter (where vector is null) as missing,
      sum(memory.index_bytes_of(terms, vector, agent_id, run_id, categories, metadata)) as bytes
    from added where deleted_at is null group by person) d
  where p.person = d.person;
  return null;
end $$;

create function count_removed() returns trigger language plpgsql as $$
begin
  update memory.people p set index_bytes = p.index_bytes - d.bytes, without_vector = p.without_vector - d.missing
  from (
    select person, count(*) filter (where vector is null) as missing,
      sum(memory.index_bytes_of(terms, vector, agent_id, run_id, categories, metadata)) as bytes
    from removed where deleted_at is null group by person) d
  where p.person = d.person;
  return null;
end $$;

-- A person is locked only where the numbers change: workers take memories without the lock of their person.
create function count_changed() returns trigger language plpgsql as $$
begin
  update memory.people p set index_bytes = p.index_bytes + d.bytes, without_vector = p.without_vector + d.missing
  from (
    select person, sum(missing) as missing, sum(bytes) as bytes from (
      select person, case when vector is null then 1 else 0 end as missing,
        memory.index_bytes_of(terms, vector, agent_id, run_id, categories, metadata) as bytes
      from added where deleted_at is null
      union all
      select person, case when vector is null then -1 else 0 end,
        -memory.index_bytes_of(terms, vector, agent_id, run_id, categories, metadata)
      from removed where deleted_at is null) one
    group by person) d
  where p.person = d.person and (d.bytes <> 0 or d.missing <> 0);
  return null;
end $$;

create trigger memories_added after insert on memories
  referencing new table as added for each statement execute function count_added();
create trigger memories_removed after delete on memories
  referencing old table as removed for each statement execute function count_removed();
create trigger memories_changed after update on memories
  referencing new table as added old table as removed for each statement execute function count_changed();

update people p set index_bytes = d.bytes, without_vector = d.missing
from (
  select person, count(*) filter (where vector is null) as missing,
    sum(index_bytes_of(terms, vector, agent_id, run_id, categories, metadata)) as bytes
  from memories where deleted_at is null group by person) d
where p.person = d.person;
