-- The UID of the resource that declares the collection; null for a collection that was made over HTTP.
alter table collections add column managed_by uuid;
