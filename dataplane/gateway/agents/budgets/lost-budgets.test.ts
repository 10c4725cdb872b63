import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openTestDatabase } from '#sql/testing/test-database';
import { awaitBudgets } from './await-budgets.ts';
import { BudgetsUnavailableError } from './ports.ts';

const ann = { issuer: 'https://people.example', subject: 'ann' };
const limits = { perMinute: 5, perDay: undefined, tokensPerDay: undefined, bytesPerDay: undefined };

test('while the table of budgets is lost no run may start, and a lost schema is created again', async () => {
  await using opened = await openTestDatabase();
  const events: { readonly event: string; readonly tables?: unknown }[] = [];
  const note = (event: string, fields: object = {}): void => void events.push({ event, ...fields });
  const access = { databaseUrl: opened.url, databasePasswordFile: opened.passwordFile };
  await using budgets = awaitBudgets(access, limits, { info: note, warn: note, error: note }, { lookMs: 20 });
  const named = (event: string) => events.filter((one) => one.event === event);
  await until('the budgets are open', () => named('agent_budgets_available').length > 0);
  expect(await budgets.take('weather', ann)).toBeUndefined();
  const { sql } = opened.database;
  await sql`alter table agent_budgets.runs_of_person rename to lost`;
  await until('the loss is logged', () => named('agent_budgets_incomplete').length > 0);
  expect(named('agent_budgets_incomplete')).toEqual([
    { event: 'agent_budgets_incomplete', tables: 'agent_budgets.runs_of_person' },
  ]);
  await expect(budgets.take('weather', ann)).rejects.toThrow(BudgetsUnavailableError);
  await sql`alter table agent_budgets.lost rename to runs_of_person`;
  await until('the return is logged', () => named('agent_budgets_complete').length > 0);
  expect(await budgets.take('weather', ann)).toBeUndefined();
  await sql`drop schema agent_budgets cascade`;
  await until('a run may start', async () => (await budgets.take('weather', ann)) === undefined);
  await until('the new tables are noticed', () => named('agent_budgets_complete').length > 1);
});

test('the creation of a lost schema is repeated until it succeeds', async () => {
  await using opened = await openTestDatabase();
  const events: string[] = [];
  const note = (event: string): void => void events.push(event);
  const access = { databaseUrl: opened.url, databasePasswordFile: opened.passwordFile };
  await using budgets = awaitBudgets(access, limits, { info: note, warn: note, error: note }, { lookMs: 20 });
  await until('the budgets are open', () => events.includes('agent_budgets_available'));
  const { sql } = opened.database;
  // A type of this name prevents the creation of the table, and is not counted as an expected table.
  await sql.begin(async (transaction) => {
    await transaction`drop schema agent_budgets cascade`;
    await transaction`create schema agent_budgets`;
    await transaction`create type agent_budgets.runs_of_person as enum ('one')`;
  });
  await until('a creation failed', () => events.includes('agent_budgets_refused'));
  await expect(budgets.take('weather', ann)).rejects.toThrow(BudgetsUnavailableError);
  await sql`drop type agent_budgets.runs_of_person`;
  await until('the tables are created', () => events.includes('agent_budgets_complete'));
  expect(await budgets.take('weather', ann)).toBeUndefined();
});
