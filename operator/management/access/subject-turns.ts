import { createSemaphore, type Semaphore } from '#kit/concurrency/semaphore';

export type SubjectTurns = {
  /** Runs an action of a subject, after those that the subject has waiting where it has as many as it may at a time. */
  run<T>(subject: string, action: () => Promise<T>): Promise<T>;
};

const never = new AbortController().signal;

/** Limits the number of concurrent actions of each subject, so that one subject does not delay the others. */
export function createSubjectTurns(atOnce: number): SubjectTurns {
  const subjects = new Map<string, { readonly turns: Semaphore; users: number }>();
  return {
    async run(subject, action) {
      const own = subjects.get(subject) ?? { turns: createSemaphore(atOnce), users: 0 };
      subjects.set(subject, own);
      own.users += 1;
      const release = await own.turns.acquire(never);
      try {
        return await action();
      } finally {
        release();
        own.users -= 1;
        if (own.users === 0) subjects.delete(subject);
      }
    },
  };
}
