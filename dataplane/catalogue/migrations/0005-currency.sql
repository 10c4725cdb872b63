-- The stored agents have every change of their resources until then (docs/design/catalogue.md).
alter table feed add column current_at timestamptz not null default clock_timestamp();
