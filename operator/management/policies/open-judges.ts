import { maxVerdictBytes } from '#contracts/judge';
import { createKeptChildren, type KeptChildren } from '#kit/process/kept-child';

const file = new URL('../../../runtime/judge.ts', import.meta.url).pathname;
/** A person who tries texts in the playground sends the next one within this time; afterwards no memory is used. */
const idleMs = 60_000;
/** Checks of one process: its heap and its figures of patterns do not grow without end. */
const mostAnswers = 100;

/** The processes that check definitions and texts. Each has no other job, and no credentials. */
export function openJudges(): KeptChildren {
  return createKeptChildren({ file, idleMs, mostAnswers, maxAnswerLength: maxVerdictBytes });
}
