-- Pages of the failed jobs of a collection, the newest first.
create index jobs_failed on jobs (collection_id, job_id desc) where status = 'FAILED';
