-- All tables are locked first, in the order in which a process of an earlier release writes them: the changes themselves lock the
-- outbox first, which could deadlock with such a write.
lock table agents, workspaces, outbox in access exclusive mode;

-- A scrape counts parked events.
create index outbox_parked on outbox (parked_at) where parked_at is not null and delivered_at is null;

-- Removed agents are forgotten after a time (docs/design/catalogue.md).
create index agents_removed on agents (updated_at) where state = 'removed';
-- Changes of a workspace up to this number may be of agents that are forgotten: an index that is behind it is loaded again.
alter table workspaces add column forgotten_through bigint not null default 0;
-- The highest number of an event of a forgotten agent: a new agent may have its id, and its numbers continue above.
create table forgotten (
  is_one boolean primary key default true check (is_one),
  event_no bigint not null
);
insert into forgotten (event_no) values (0);
