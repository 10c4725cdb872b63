-- What was observed once. It is kept longer than its entry, so that it is not recorded again after retention.
create table sources (
  chain text not null references chains (chain),
  source text not null,
  primary key (chain, source)
);

insert into sources (chain, source) select chain, source from entries where source is not null;
