import { expect, test } from 'vitest';
import { createSubjectTurns } from './subject-turns.ts';

test('a subject runs at most its limit of concurrent actions; the next one starts when one ends, and other subjects do not wait', async () => {
  const turns = createSubjectTurns(2);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (subject: string, name: string) =>
    turns.run(subject, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const running = [run('ann', 'a1'), run('ann', 'a2'), run('ann', 'a3'), run('bob', 'b1')];
  await Promise.resolve();
  expect(started).toEqual(['a1', 'a2', 'b1']);
  ends.get('a2')?.();
  await running[1];
  await Promise.resolve();
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (const end of ends.values()) end();
  await Promise.all(running);
});

test('when an action of a subject fails, the next one starts', async () => {
  const turns = createSubjectTurns(1);
  const failed = turns.run('ann', () => Promise.reject(new Error('no')));
  const next = turns.run('ann', async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});
