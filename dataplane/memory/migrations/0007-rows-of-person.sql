-- Erasures, exports and deletions by filter read the events and the records of one person, also where others have many.
create index events_of_person on events (person, seq);
create index deletions_of_person on deletions (person, confirmation_id);
