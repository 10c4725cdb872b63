-- Open jobs of a tenant are counted before a submit is accepted.
create index jobs_open_of_tenant on jobs (tenant) where status in ('PENDING', 'RUNNING');
