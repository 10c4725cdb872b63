-- Events are claimed by tenant, and those of one tenant in the turns of its persons (docs/decisions/0192).

-- Events of one person have one turn each, and a new person begins with the lowest turn of an open event of the tenant. Open
-- events of an earlier release share the first turn.
alter table events add column turn bigint not null default 0;
update events e set tenant = p.tenant from people p
where p.person = e.person and e.tenant is null and e.status in ('PENDING', 'RUNNING');

-- It also counts the open events of a tenant.
create index events_turns on events (tenant, turn, due_at, seq) where status in ('PENDING', 'RUNNING');
drop index events_open_of_tenant;

-- Events that are processed at present: those whose lease or pause has not ended.
create index events_leased on events (due_at) include (tenant) where status = 'RUNNING';
