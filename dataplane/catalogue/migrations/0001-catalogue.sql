-- Agents as the catalogue shows them, derived from resources by the feed (docs/design/catalogue.md).
create table agents (
  agent_id uuid primary key,
  -- Name of the Agent; it never leaves the service.
  resource text not null,
  name text not null,
  description text not null,
  workspace text not null,
  owner_issuer text not null,
  owner_subject text not null,
  state text not null check (state in ('active', 'degraded', 'removed', 'rejected')),
  protocol text not null check (protocol in ('a2a', 'mcp')),
  implementation_type text not null check (implementation_type in ('sdk', 'low-code')),
  -- The version that is served, or was served last; null if none ever was.
  version_id text,
  skills jsonb not null,
  -- Address of the agent at the gateway, without a version.
  url text,
  is_ready boolean not null,
  is_consistent boolean not null,
  is_routed boolean not null,
  -- R1 admits listed confirmers over MCP, R2 every caller with the right invoke.
  exposure text not null check (exposure in ('R1', 'R2')),
  updated_at timestamptz not null default clock_timestamp()
);

create index agents_by_state on agents (state, agent_id);
create index agents_by_workspace on agents (workspace, agent_id) where state = 'active';

-- One row once every listed agent was stored for the first time: before that an answer would miss agents.
create table feed (
  is_complete boolean primary key check (is_complete),
  completed_at timestamptz not null default clock_timestamp()
);
