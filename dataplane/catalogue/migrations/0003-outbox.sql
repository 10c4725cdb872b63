-- Events about agents, written in the transaction of the change, and delivered by the relay (docs/design/catalogue.md).
alter table agents add column event_no bigint not null default 0;

create table outbox (
  event_id uuid primary key,
  agent_id uuid not null,
  -- Rises by one with every event of the agent, under the lock of the row of the agent.
  event_no bigint not null,
  type text not null,
  version_id text,
  occurred_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  -- Attempts that the receiver refused; failures do not count, so that no event is lost while it is away.
  refusals integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  -- Set when the receiver refused the event for good; later events of the agent are delivered.
  parked_at timestamptz,
  unique (agent_id, event_no)
);

create index outbox_open on outbox (agent_id, event_no) where delivered_at is null and parked_at is null;
create index outbox_age on outbox (occurred_at);
