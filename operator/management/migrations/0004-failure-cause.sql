-- The condition message of an application that failed. Null for other failures and in rows of earlier versions.
alter table operations add column failure_cause text;
