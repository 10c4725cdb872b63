-- A replica of a release before 0006 adds events without a tenant for as long as it runs, also after 0017 filled the present ones.
-- Such an event would never be claimed, and would hold back every later one of its person.
create function fill_tenant() returns trigger language plpgsql as $$
begin
  select p.tenant into new.tenant from memory.people p where p.person = new.person;
  return new;
end $$;

create trigger events_tenant before insert on events
  for each row when (new.tenant is null) execute function fill_tenant();

update events e set tenant = p.tenant from people p
where p.person = e.person and e.tenant is null and e.status in ('PENDING', 'RUNNING');
