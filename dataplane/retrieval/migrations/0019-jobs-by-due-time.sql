-- jobs_due_of_tenant also counts the open jobs of a tenant. The removal of an index locks reads as well, so this file does nothing
-- else: with a lock of an earlier statement it could wait for a transaction that reads jobs and then waits to write one.
drop index jobs_open_of_tenant;
