import { maxVerdictBytes } from '#contracts/judge';
import { createSpareChild, type SpareChild } from '#kit/process/spare-child';

const file = new URL('../../../runtime/judge.ts', import.meta.url).pathname;
/** A person who tries texts in the playground sends the next one within this time; afterwards no memory is used. */
const idleMs = 60_000;

/** The processes that check definitions and texts. Each has one job, and no credentials. */
export function openJudges(): SpareChild {
  return createSpareChild({ file, idleMs, maxOutputBytes: maxVerdictBytes });
}
