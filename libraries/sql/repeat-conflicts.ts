import { setTimeout as pause } from 'node:timers/promises';
import { SqlConflictError } from './sql-error.ts';

const mostRepetitions = 3;
/** The longest pause before the first repetition, milliseconds; it doubles before each further repetition. */
const firstPauseMs = 20;

/**
 * Repeats a transaction that the database rolled back because of a concurrent one. The pauses are random, so that the
 * same two transactions do not conflict again.
 * @throws SqlConflictError after the last repetition, and any other error immediately
 */
export async function repeatConflicts<T>(run: () => Promise<T>, random: () => number = Math.random): Promise<T> {
  for (let repetitions = 0; ; repetitions += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof SqlConflictError) || repetitions === mostRepetitions) throw error;
    }
    await pause(random() * firstPauseMs * 2 ** repetitions);
  }
}
