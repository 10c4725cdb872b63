-- A query asks whether some documents of its collection are not valid at present.
create index documents_with_validity on documents (collection_id, valid_from, valid_until)
  where (valid_from is not null or valid_until is not null) and not deleted;
