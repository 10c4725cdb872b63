-- Names are compared by bytes; the first index answers checks and the walk through all tuples.
create table tuples (
  object text collate "C" not null,
  relation text collate "C" not null,
  subject text collate "C" not null,
  primary key (object, relation, subject)
);
