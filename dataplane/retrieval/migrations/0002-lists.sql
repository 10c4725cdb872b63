-- Pages of jobs of a collection, the newest first.
create index jobs_of_collection on jobs (collection_id, job_id desc);
