import type { CollectedActivity, ReplicaDecision } from '#contracts/activity';
import { describeError } from '../errors/describe-error.ts';
import { ManagementApiError } from '../management/management-error.ts';
import { missingSentences } from './read-activity.ts';

/** Maximum number of remembered decisions; larger than the lists of a few dozen replicas together. */
const maxKnown = 50_000;

type Following = {
  /** The decisions that have already been printed. */
  readonly first: CollectedActivity;
  readonly read: () => Promise<CollectedActivity>;
  /** Passes the time between two reads; resolves to false when the user ends the command. */
  readonly pause: () => Promise<boolean>;
  /** New decisions, newest first. */
  readonly print: (items: readonly ReplicaDecision[]) => void;
  /** A sentence on standard error. */
  readonly warn: (sentence: string) => void;
};

/**
 * Reads until the user ends the command, and prints each decision once, including the decisions of a replica that did
 * not answer for a while. A read that fails because no gateway answers is reported once and retried.
 * @throws CliError for a failure that is not retryable, such as a refused token
 */
export async function followActivity({ first, read, pause, print, warn }: Following): Promise<void> {
  const known = new Set<string>();
  remember(known, first.items);
  let told = missingText(first);
  while (await pause()) {
    let sentence: string;
    try {
      const activity = await read();
      const fresh = activity.items.filter((one) => !known.has(keyOf(one)));
      remember(known, activity.items);
      if (fresh.length > 0) print(fresh);
      sentence = missingText(activity);
    } catch (error) {
      if (!isPassing(error)) throw error;
      sentence = `${describeError(error).message} The decisions are read again.`;
    }
    if (sentence !== told && sentence !== '') warn(sentence);
    told = sentence;
  }
}

/** Keys of the newest list are evicted last. */
function remember(known: Set<string>, items: readonly ReplicaDecision[]): void {
  for (const key of items.map(keyOf)) {
    known.delete(key);
    known.add(key);
  }
  for (const oldest of known) {
    if (known.size <= Math.max(maxKnown, items.length)) return;
    known.delete(oldest);
  }
}

function keyOf({ replica, requestId, time }: ReplicaDecision): string {
  return `${replica} ${requestId} ${time}`;
}

function missingText(activity: CollectedActivity): string {
  const sentences = missingSentences(activity);
  return sentences.length === 0 ? '' : `decisions are missing: ${sentences.join(' ')}`;
}

function isPassing(error: unknown): boolean {
  if (error instanceof ManagementApiError) return error.status >= 500;
  return describeError(error).exit === 'not_running';
}
