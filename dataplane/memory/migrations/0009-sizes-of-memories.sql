-- A search with a token budget asks which memories of a person are small enough for the rest of the budget.
create index memories_sizes on memories (person, tokens) where deleted_at is null;
