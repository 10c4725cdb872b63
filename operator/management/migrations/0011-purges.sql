-- Purges of revisions in the server of the resources. A row is stored before the text is removed, and deleted in the
-- transaction of its entry in the audit log: one that is left is settled by the loop that settles.
create table purges (
  purge_id uuid primary key,
  revision text not null,
  purge_time text not null,
  entry text not null,
  created_at timestamptz not null default clock_timestamp()
);
