-- A removal deletes the history of its memories in one statement and then the memories, under the lock of the person that
-- every entry is written under. A reference to the memory would look for entries once more for each removed memory.
alter table history drop constraint history_memory_id_fkey;
