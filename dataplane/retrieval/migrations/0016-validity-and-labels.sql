-- This file locks no table but documents: workers of an earlier release, which run meanwhile, write a job and then its document.

-- A query asks whether the document of its collection that ends first has ended; documents_with_validity has the one that
-- begins last.
create index documents_valid_until on documents (collection_id, valid_until) where valid_until is not null and not deleted;

-- A reader of few documents of a large collection lists them by their labels. Other collections have the same labels, so that
-- an entry of the index is a hash of a collection and a label; a list compares the labels themselves as well.
create function label_keys(collection_id uuid, labels text[]) returns bigint[]
language sql immutable parallel safe cost 1000 as $$
  select array(
    select hashtextextended(label, hashtextextended(collection_id::text, 0)) from unnest(labels) as l (label))
$$;

create index documents_labels on documents using gin (label_keys(collection_id, labels)) with (fastupdate = off)
  where not deleted;
