import { maxVerdictBytes } from '#contracts/judge';
import { createKeptChildren, type KeptChildren } from '#kit/process/kept-child';

const file = new URL('../../../runtime/judge.ts', import.meta.url).pathname;
/**
 * How long a process for checks waits, milliseconds: a person who tries texts in the playground sends the next text
 * within this time. Afterwards its memory is released.
 */
const idleMs = 60_000;
/** Number of checks that one process makes, so that its heap and its figures of patterns do not grow without limit. */
const mostAnswers = 100;

/** The processes that check definitions and texts. Each has no other job, and no credentials. */
export function openJudges(): KeptChildren {
  return createKeptChildren({ file, idleMs, mostAnswers, maxAnswerLength: maxVerdictBytes });
}
