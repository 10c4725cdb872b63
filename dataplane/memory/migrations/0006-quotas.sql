-- Open events of a tenant are counted before an add is accepted. Null in events of replicas of an earlier release.
alter table events add column tenant text;
update events e set tenant = p.tenant from people p
where p.person = e.person and e.status in ('PENDING', 'RUNNING');
create index events_open_of_tenant on events (tenant) where status in ('PENDING', 'RUNNING');
