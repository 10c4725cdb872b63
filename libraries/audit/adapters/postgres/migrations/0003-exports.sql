-- How far each receiver of an export has the entries of a chain.
create table exports (
  receiver text not null,
  chain text not null references chains (chain),
  -- The newest entry that the receiver confirmed, or that retention removed before.
  number bigint not null default 0,
  -- The process that delivers, until this time.
  holder text,
  leased_until timestamptz,
  primary key (receiver, chain)
);
