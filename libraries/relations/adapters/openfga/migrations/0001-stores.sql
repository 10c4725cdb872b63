-- Which store of a server all replicas of an installation use: the first one that was claimed.
create table stores (
  key text collate "C" primary key,
  store_id text collate "C" not null
);
