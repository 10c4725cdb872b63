-- Packing locks its row first and the person last, and an erasure the person first: a reference would make it lock the row
-- of packing, too, so that both could wait for each other. Packing removes rows whose person is erased.
alter table packing drop constraint packing_person_fkey;
