-- One row once the administrators of the setting were granted their right: it is not granted again.
create table first_administrators (
  granted boolean primary key check (granted),
  granted_at timestamptz not null default clock_timestamp()
);
