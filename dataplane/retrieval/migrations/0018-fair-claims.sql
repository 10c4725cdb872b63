-- Jobs are claimed by tenant (docs/design/retrieval-ingest.md, "Whose job is next"). This file locks no table but jobs and
-- opensearch_places: workers of an earlier release, which run meanwhile, write a job and then its document.

-- Open jobs of a tenant, deletions first, in the order in which they are due. It also counts the open jobs of a tenant.
create index jobs_due_of_tenant on jobs (tenant, op, due_at, seq) where status in ('PENDING', 'RUNNING');

-- Jobs that are processed at present: those whose lease has not ended.
create index jobs_leased on jobs (due_at) include (tenant) where status = 'RUNNING' and retry_at is null;

-- Settled jobs of an earlier release that still name who may see their document.
create index jobs_labelled on jobs (job_id) where settled and labels <> '{}';

-- The change of its collection that a place reflects at least, as far as a worker has followed it without a query.
alter table opensearch_places add column followed_through bigint not null default 0;
