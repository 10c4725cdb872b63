import { randomUUID } from 'node:crypto';
import type { DocumentFile } from './find-documents.ts';
import type { FileResult } from './submit-files.ts';

/** A file as it was before it was read. */
export type StampedFile = DocumentFile & {
  /** Changes with the content of the file, as far as the file system reports it. */
  readonly stamp: string;
  /**
   * The time of the last change of the file, milliseconds since 1970; undefined if the file system did not report it.
   */
  readonly changedMs: number | undefined;
};

/** A file to submit. A retry has its own name, because the service answers a repeated submit with the failed job. */
type DueFile = StampedFile & { readonly retry?: string };

/** Pauses of a watch, milliseconds. */
export type AttemptTimes = {
  /**
   * Resolution of the times of file systems, up to 2 s: a file that was read shortly after its last change may have
   * changed again without a new time, so that it is read once more.
   */
  readonly youngMs: number;
  /** First and longest pause before a failed file is submitted again; each pause is twice the previous one. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
};

export const attemptTimes: AttemptTimes = { youngMs: 2_000, firstRetryMs: 60_000, longestRetryMs: 3_600_000 };

type Attempt = {
  readonly stamp: string;
  readonly result: Pick<FileResult, 'state' | 'reason'>;
  readonly isFinal: boolean;
  readonly failures: number;
  readonly retryAt: number;
  readonly retry: string | undefined;
};

/** The last attempt for each file of a watch, and which files are due. Instants are milliseconds since 1970. */
type FileAttempts = {
  /** Files that are new, changed, or not known to be in the collection in their current state. */
  due(files: readonly StampedFile[], now: number): readonly DueFile[];
  /**
   * @param readAt a time before the file was read @returns whether the result differs from the previous result for this
   * content
   */
  record(file: DueFile, result: FileResult, readAt: number): boolean;
  /** Removes all files from memory except the kept files. */
  retain(isKept: (docId: string) => boolean): void;
};

export function createFileAttempts(times: AttemptTimes = attemptTimes): FileAttempts {
  const attempts = new Map<string, Attempt>();

  function dueFile(file: StampedFile, now: number): readonly DueFile[] {
    const last = attempts.get(file.docId);
    if (last === undefined || last.stamp !== file.stamp) return [file];
    if (isFailure(last.result)) return now >= last.retryAt ? [{ ...file, retry: randomUUID() }] : [];
    if (last.isFinal) return [];
    return [last.retry === undefined ? file : { ...file, retry: last.retry }];
  }

  return {
    due: (files, now) => files.flatMap((file) => dueFile(file, now)),
    record(file, { state, reason }, readAt) {
      const { docId, stamp, changedMs, retry } = file;
      const last = attempts.get(docId);
      const same = last?.stamp === stamp ? last : undefined;
      const result = { state, ...(reason === undefined ? {} : { reason }) };
      const failures = isFailure(result) ? (same?.failures ?? 0) + 1 : 0;
      const pause = Math.min(times.longestRetryMs, times.firstRetryMs * 2 ** (failures - 1));
      const isYoung = changedMs !== undefined && Math.abs(readAt - changedMs) < times.youngMs;
      attempts.set(docId, {
        stamp,
        result,
        isFinal: state !== 'waiting' && !isYoung,
        failures,
        retryAt: isYoung ? readAt : readAt + pause,
        retry,
      });
      return same === undefined || !isSame(same.result, result);
    },
    retain(isKept) {
      for (const docId of attempts.keys()) if (!isKept(docId)) attempts.delete(docId);
    },
  };
}

function isFailure({ state }: Pick<FileResult, 'state'>): boolean {
  return state === 'failed' || state === 'unreadable';
}

function isSame(before: Attempt['result'], { state, reason }: Attempt['result']): boolean {
  if (state === 'unchanged' && before.state === 'done') return true;
  return before.state === state && before.reason === reason;
}
