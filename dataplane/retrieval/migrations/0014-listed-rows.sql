-- Pages of the live documents of a collection, in the byte order of their ids.
create index documents_listed on documents (collection_id, doc_id collate "C") where not deleted;
-- Pages of the failed jobs of a collection, the newest first.
create index jobs_failed on jobs (collection_id, job_id desc) where status = 'FAILED';
