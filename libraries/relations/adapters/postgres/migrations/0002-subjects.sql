-- Answers which groups and objects a subject reaches.
create index tuples_by_subject on tuples (subject, relation, object);
