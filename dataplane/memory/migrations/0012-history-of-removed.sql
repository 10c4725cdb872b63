-- A removal deletes the history of its memories in one statement and then the memories, under the lock of the person that
-- every entry is written under. A reference to the memory would look for entries once more for each removed memory.
-- Both tables are locked first, in the order in which a process of an earlier release writes them: the change itself locks the
-- history first, which could deadlock with such a write.
lock table memories, history in access exclusive mode;
alter table history drop constraint history_memory_id_fkey;
