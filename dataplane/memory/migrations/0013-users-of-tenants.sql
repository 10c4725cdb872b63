-- The users of each tenant are counted as they come and go: the quota is checked for each new user, and a tenant may have
-- a million of them.
create table tenants (
  tenant text primary key,
  users bigint not null
);

create function count_users() returns trigger language plpgsql as $$
begin
  insert into memory.tenants as t (tenant, users)
  select tenant, case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by tenant order by tenant
  on conflict (tenant) do update set users = t.users + excluded.users;
  return null;
end $$;

create trigger people_added after insert on people
  referencing new table as changed for each statement execute function count_users();
create trigger people_removed after delete on people
  referencing old table as changed for each statement execute function count_users();

insert into tenants (tenant, users) select tenant, count(*) from people group by tenant;
