import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createProviderAnswers, type Silence } from './provider-answers.ts';

const question = { provider: 'spam', key: 'spam, rule of 100 ms' };
const away: Silence = { message: 'spam is away', isOfProvider: true };

function world() {
  const clock = createFakeClock();
  const due: string[] = [];
  const answers = createProviderAnswers(clock, (subjects) => due.push(...subjects));
  let asked = 0;
  let silence: Silence | undefined = away;
  return {
    clock,
    answers,
    asked: () => asked,
    /** The subjects that were queued since the last call. */
    due: () => due.splice(0),
    answerWith(next: Silence | undefined) {
      silence = next;
    },
    gather: (subject: string, application = `${subject} 1`, key = question.key) =>
      answers.gather({
        subject,
        application,
        questions: [{ ...question, key }],
        ask: async (questions) => {
          asked += 1;
          return questions.map(() => silence);
        },
      }),
  };
}

test('when many applications wait for one provider that does not answer, only one of them retries, with a growing backoff', async () => {
  const { clock, answers, asked, gather } = world();
  const names = Array.from({ length: 100 }, (_, index) => `binding-${index}`);
  for (const name of names) expect(await gather(name)).toEqual([away.message]);
  expect(asked()).toBe(1);
  const retrying = names.filter((name) => answers.retryAfterMs(name) !== undefined);
  expect(retrying).toEqual(['binding-0']);
  const pauses: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    const pause = answers.retryAfterMs('binding-0') ?? 0;
    pauses.push(pause);
    clock.advance(pause);
    await gather('binding-0');
    for (const name of names.slice(1)) await gather(name);
  }
  expect(asked()).toBe(13);
  expect(pauses[0]).toBeGreaterThanOrEqual(2_000);
  expect(pauses.at(-1)).toBeCloseTo(60_000, 3);
});

test('when a provider answers, every waiting application is queued, and applications with the same test call do not repeat it', async () => {
  const { clock, answers, asked, gather, due, answerWith } = world();
  for (const name of ['a', 'b']) await gather(name);
  await gather('c', 'c 1', 'spam, another rule');
  answerWith(undefined);
  clock.advance(answers.retryAfterMs('a') ?? 0);
  expect(await gather('a')).toEqual([]);
  expect(due().toSorted()).toEqual(['b', 'c']);
  const before = asked();
  expect(await gather('b')).toEqual([]);
  expect(asked()).toBe(before);
  expect(await gather('c', 'c 1', 'spam, another rule')).toEqual([]);
  expect(asked()).toBe(before + 1);
  for (const name of ['a', 'b', 'c']) expect(answers.retryAfterMs(name)).toBeUndefined();
});

test('when the application that retries a provider is removed, another waiting application retries', async () => {
  const { answers, gather, due } = world();
  for (const name of ['a', 'b']) await gather(name);
  answers.forget('a');
  expect(due()).toEqual(['b']);
  expect(answers.retryAfterMs('b')).toBeGreaterThan(0);
  answers.stopWaiting('b');
  expect(answers.retryAfterMs('b')).toBeUndefined();
});

test('an application that a user repeats calls its provider immediately; later reconciles of the same application do not call again', async () => {
  const { asked, gather, answerWith } = world();
  await gather('a');
  await gather('a');
  expect(asked()).toBe(1);
  answerWith(undefined);
  expect(await gather('a', 'a 2')).toEqual([]);
  expect(await gather('a', 'a 2')).toEqual([]);
  expect(asked()).toBe(2);
});

test('a test call that fails because of its own rule does not delay other calls to the provider', async () => {
  const { gather, asked, answerWith } = world();
  answerWith({ message: 'too slow', isOfProvider: false });
  await gather('a');
  answerWith(undefined);
  expect(await gather('b', 'b 1', 'spam, patient rule')).toEqual([]);
  expect(await gather('a')).toEqual(['too slow']);
  expect(asked()).toBe(2);
});
