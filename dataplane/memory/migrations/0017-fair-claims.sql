-- Events are claimed by tenant, and those of one tenant in the turns of its persons (docs/decisions/0192).

-- Events of one person have one turn each, and a new person begins with the lowest turn of an open event of the tenant. So the
-- open events of an earlier release get the turns that they would have if all persons had begun at the same moment.
alter table events add column turn bigint not null default 0;
update events e set tenant = p.tenant from people p
where p.person = e.person and e.tenant is null and e.status in ('PENDING', 'RUNNING');
update events e set turn = o.turn from (
  select event_id, row_number() over (partition by person order by seq) - 1 as turn from events
  where status in ('PENDING', 'RUNNING')) o
where o.event_id = e.event_id and o.turn > 0;

-- It also counts the open events of a tenant.
create index events_turns on events (tenant, turn, due_at, seq) where status in ('PENDING', 'RUNNING');
drop index events_open_of_tenant;

-- Events that are processed at present: those whose lease or pause has not ended.
create index events_leased on events (due_at) include (tenant) where status = 'RUNNING';
