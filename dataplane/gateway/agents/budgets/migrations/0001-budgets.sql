-- Runs of one person with one agent in the current minute and the current day (UTC). A person is a digest, not a name.
create table runs_of_person (
  agent_id text not null,
  person bytea not null,
  minute_at timestamptz not null,
  minute_runs integer not null,
  day_at timestamptz not null,
  day_runs integer not null,
  primary key (agent_id, person)
);
create index runs_of_person_by_day on runs_of_person (day_at);
