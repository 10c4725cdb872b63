/**
 * Memory that one set may use for its program and automaton, in bytes. The value is part of the build and not
 * configurable, because the cost of a group depends on it.
 */
export const SET_MEMORY_BYTES = 32 * 1024 * 1024;

/**
 * Memory of one expression for the automaton of a search, in bytes. The engine gives 8 MiB to an expression: two thirds
 * for the forward program, halved between two kinds of search, one third for the backward one (re2.cc, dfa.cc);
 * programs take their share first, so that a smaller value is assumed.
 */
export const SEARCH_MEMORY_BYTES = 2_300_000;
