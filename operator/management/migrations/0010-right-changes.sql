-- Changes of rights in a store outside of this database. A row is stored before the change is made, and deleted in the
-- transaction of its entry in the audit log: one that is left is settled by the next change, or by the loop that settles.
create table right_changes (
  change_id uuid primary key,
  object text not null,
  relation text not null,
  subject text not null,
  action text not null check (action in ('grant', 'revoke')),
  entry text not null,
  created_at timestamptz not null default clock_timestamp()
);
