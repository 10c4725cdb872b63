-- Pages of the live documents of a collection, in the byte order of their ids. This file locks no other table: workers of an
-- earlier release, which run meanwhile, write a job and then its document.
create index documents_listed on documents (collection_id, doc_id collate "C") where not deleted;
