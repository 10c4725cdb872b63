-- A deletion by filter removes what ended events still have of the client. Only those that a release before 0003 ended have
-- something, so that this index is almost empty. This file locks no other table.
create index events_with_texts on events (person)
  where status in ('SUCCEEDED', 'FAILED') and (metadata <> '{}' or categories <> '{}');
