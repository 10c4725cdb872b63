import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { BudgetsUnavailableError } from './ports.ts';
import { migrateBudgets, openRunBudgets, removeOldBudgets } from './run-budgets.ts';

const ann = { issuer: 'https://people.example', subject: 'ann' };
const bob = { ...ann, subject: 'bob' };
const none = { perMinute: undefined, perDay: undefined, tokensPerDay: undefined, bytesPerDay: undefined };
/** An agent that has no rows yet. */
const newAgent = (): string => randomUUID();

describe.skipIf(missingPostgres !== undefined)(onPostgres('budgets of runs'), () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase();
    await Promise.all([migrateBudgets(opened.database), migrateBudgets(opened.database)]);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  /** Moves the time spans of all rows into the past, so that the test need not wait. */
  const passTime = (interval: string) =>
    opened.database.sql`update agent_budgets.runs_of_person
      set minute_at = minute_at - ${interval}::interval, day_at = day_at - ${interval}::interval`;
  const rows = async (agent: string) =>
    (await opened.database.sql`select * from agent_budgets.runs_of_person where agent_id = ${agent}`).length;

  test('a person starts as many runs of an agent in a day as the budget has, and another person has a separate budget', async () => {
    const agent = newAgent();
    const budgets = openRunBudgets(opened.database, { ...none, perDay: 2 });
    expect([await budgets.take(agent, ann), await budgets.take(agent, ann)]).toEqual([undefined, undefined]);
    const used = await budgets.take(agent, ann);
    expect(used?.span).toBe('day');
    expect(used?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(used?.retryAfterSeconds).toBeLessThanOrEqual(86_400);
    expect(await budgets.take(agent, bob)).toBeUndefined();
    expect(await budgets.take(newAgent(), ann)).toBeUndefined();
    await passTime('1 day');
    expect(await budgets.take(agent, ann)).toBeUndefined();
  });

  test('a run that is refused by the budget of a minute uses nothing of the budget of the day', async () => {
    const agent = newAgent();
    const minute = openRunBudgets(opened.database, { ...none, perMinute: 1 });
    // The second run is refused unless a minute ends between the two.
    const outcomes = [await minute.take(agent, ann), await minute.take(agent, ann), await minute.take(agent, ann)];
    const refused = outcomes.filter((one) => one !== undefined);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const { span, retryAfterSeconds } of refused) {
      expect(span).toBe('minute');
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    }
    const [row] = await opened.database.sql`
      select day_runs from agent_budgets.runs_of_person where agent_id = ${agent}`;
    expect(row?.['day_runs']).toBe(outcomes.length - refused.length);
  });

  test('two replicas that count at the same time let exactly the budget through', async () => {
    const agent = newAgent();
    await using other = opened.connect();
    const replicas = [opened.database, other].map((database) => openRunBudgets(database, { ...none, perDay: 10 }));
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, at) => replicas[at % 2]?.take(agent, ann)));
    expect(outcomes.filter((one) => one === undefined)).toHaveLength(10);
  });

  test.each([
    ['tokens', { tokensPerDay: 10 }, (amount: number) => ({ tokens: amount, bytes: 0 })],
    ['bytes', { bytesPerDay: 10 }, (amount: number) => ({ tokens: 0, bytes: amount })],
  ] as const)(
    'in two replicas a run may start until the %s of the day are used, and again on the next day',
    async (limit, limits, used) => {
      const [agent, more] = [newAgent(), { ...none, ...limits }];
      await using connection = opened.connect();
      const [one, other] = [openRunBudgets(opened.database, more), openRunBudgets(connection, more)];
      await one.use(agent, ann, used(4));
      await other.use(agent, ann, used(5));
      expect(await other.take(agent, ann)).toBeUndefined();
      await other.use(agent, ann, used(1));
      for (const replica of [one, other]) {
        const refused = await replica.take(agent, ann);
        expect(refused).toMatchObject({ limit, span: 'day' });
        expect(refused?.retryAfterSeconds).toBeLessThanOrEqual(86_400);
      }
      expect(await one.take(agent, bob)).toBeUndefined();
      expect(await one.take(newAgent(), ann)).toBeUndefined();
      await passTime('1 day');
      expect(await one.take(agent, ann)).toBeUndefined();
      await other.use(agent, ann, used(9));
      expect(await one.take(agent, ann)).toBeUndefined();
    },
  );

  test('the usage of a new day does not count for the day before', async () => {
    const agent = newAgent();
    const budgets = openRunBudgets(opened.database, { ...none, tokensPerDay: 10 });
    await budgets.use(agent, ann, { tokens: 10, bytes: 0 });
    await passTime('1 day');
    await budgets.use(agent, ann, { tokens: 9, bytes: 0 });
    expect(await budgets.take(agent, ann)).toBeUndefined();
  });

  test('the table of budgets has no name of a person, and old rows are removed', async () => {
    const [old, present] = [newAgent(), newAgent()];
    const budgets = openRunBudgets(opened.database, { ...none, perMinute: 1, perDay: 1 });
    await budgets.take(old, ann);
    const text = JSON.stringify(await opened.database.sql`select * from agent_budgets.runs_of_person`);
    expect(text).not.toMatch(/\bann\b|people\.example/);
    await passTime('2 days');
    await budgets.take(present, ann);
    await removeOldBudgets(opened.database);
    expect([await rows(old), await rows(present)]).toEqual([0, 1]);
  });

  test('without the database of budgets no run may start', async () => {
    const closed = opened.connect();
    await closed[Symbol.asyncDispose]();
    const budgets = openRunBudgets(closed, { ...none, perMinute: 1, perDay: 1 });
    await expect(budgets.take(newAgent(), ann)).rejects.toBeInstanceOf(BudgetsUnavailableError);
    const used = { tokens: 1, bytes: 1 };
    await expect(budgets.use(newAgent(), ann, used)).rejects.toBeInstanceOf(BudgetsUnavailableError);
  });
});
