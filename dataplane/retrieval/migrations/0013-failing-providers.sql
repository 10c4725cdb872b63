-- The rule whose detector or classifier did not judge at the last attempt, with its provider and the cause, as JSON.
-- It is meant while the job is open, or the version is building; later values are remains.
alter table jobs add column failing_provider jsonb;
alter table index_versions add column failing_provider jsonb;

create index jobs_unjudged on jobs (collection_id) include (failing_provider)
  where failing_provider is not null and status in ('PENDING', 'RUNNING');
