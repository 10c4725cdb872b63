-- The memories of persons with many of them, packed for the first search (docs/design/memory.md, "Segments").
alter table people add column packed_through bigint not null default 0;

create table segments (
  person bigint not null references people (person) on delete cascade,
  segment integer not null,
  -- The profile of the vectors; null without one. Segments of another profile than the present one are not read.
  profile_id text,
  rows integer not null,
  bytes integer not null,
  -- Rows of memories that changed or were deleted since.
  ended integer[] not null default '{}',
  primary key (person, segment)
);

-- Base64: the server sends it as it is stored. Parts, because a long string costs its reader a collection of garbage.
create table segment_parts (
  person bigint not null,
  segment integer not null,
  part integer not null,
  data text not null,
  primary key (person, segment, part),
  foreign key (person, segment) references segments (person, segment) on delete cascade
);

-- The data is dense already: an attempt to compress it would cost time with every write.
alter table segment_parts alter column data set storage external;

-- Persons with changes to be packed.
create table packing (
  person bigint primary key references people (person) on delete cascade
);

insert into packing select person from people where change_no >= 256;
