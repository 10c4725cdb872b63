import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { routeSpec, storedRoute } from '../../testing/route-builder.ts';
import { exchangeGrant } from '../testing/exchange-grant.ts';
import { agentId, routedVersion, startAgentPlane } from '../testing/start-agent-plane.ts';
import { type BudgetLimits, migrateBudgets, openRunBudgets } from './run-budgets.ts';

const path = `/agents/${agentId}/mcp`;
const [body, answer] = ['{"jsonrpc":"2.0"}', '{"done":1}'];
const bytesOfRun = body.length + answer.length;
const none = { perMinute: undefined, perDay: undefined, tokensPerDay: undefined, bytesPerDay: undefined };

/** A gateway with one agent for two persons; its budgets are in a database. */
async function open(opened: TestDatabase, limits: Partial<BudgetLimits>, perMinute = 10_000) {
  await using parts = new AsyncDisposableStack();
  const budgets = openRunBudgets(opened.database, { ...none, ...limits });
  const world = parts.use(await startAgentPlane({ atOnce: 16, perMinute }, [], budgets));
  const agent = await world.startProcess((response) => void response.end(answer));
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
  await world.serve({ versions: [routedVersion(agent, { requires: [{ kind: 'Model', name: 'small' }] })] });
  await opened.database.sql`delete from agent_budgets.runs_of_person`;
  const run = async (person = 'ann') => {
    const { status, headers, ...sent } = await world
      .call(path, { token: await world.personToken(person), body })
      .then(async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }));
    return { status, retryAfter: Number(headers.get('retry-after')), ...sent };
  };
  const counted = (column: 'day_bytes' | 'day_tokens', amount: number) =>
    until(`${column} is ${amount}`, async () => {
      const { sql } = opened.database;
      const rows = await sql`select from agent_budgets.runs_of_person where ${sql(column)} = ${amount}`;
      return rows.length === 1;
    });
  const owned = parts.move();
  return { world, agent, run, counted, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the limits of runs, over HTTP'), () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase();
    await migrateBudgets(opened.database);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test('a caller starts as many runs in a minute as the limit, and the next run is refused with 429 and the seconds to wait', async () => {
    await using served = await open(opened, {}, 3);
    const runs = [await served.run(), await served.run(), await served.run(), await served.run()];
    expect(runs.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(runs[3]?.retryAfter).toBe(20);
    expect(runs[3]?.text).toContain('too_many_runs');
    expect((await served.run('bob')).status).toBe(200);
  });

  test.each([
    ['that two runs use up', 2 * bytesOfRun, [200, 200, 429, 429]],
    ['of one byte more than two runs use', 2 * bytesOfRun + 1, [200, 200, 200, 429]],
  ])(
    'a run is refused once the daily bytes of its caller are used up: a limit %s',
    async (_what, bytesPerDay, expected) => {
      await using served = await open(opened, { bytesPerDay });
      const statuses: number[] = [];
      for (let at = 1; at <= expected.length; at += 1) {
        const { status, text } = await served.run();
        statuses.push(status);
        if (status === 200) await served.counted('day_bytes', at * bytesOfRun);
        else expect(text).toContain('budget_used');
      }
      expect(statuses).toEqual(expected);
      expect((await served.run('bob')).status).toBe(200);
    },
  );

  test('a run may start while one token of the day is left, and not after the last token is used', async () => {
    await using served = await open(opened, { tokensPerDay: 10 });
    let used = 9;
    await using model = await startScriptedHttp((response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 0, completion_tokens: used, total_tokens: used };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }));
    });
    const { gateway, url } = served.world;
    gateway.routes.put(storedRoute('small', routeSpec('small', `${model.url}/v1`, { mode: 'None' })));
    const askModel = async () => {
      const grant = String(served.agent.seen.at(-1)?.headers['x-portcullis-run-grant']);
      const { json } = await exchangeGrant(url, { grant, audience: 'urn:portcullis:models' });
      const headers = { authorization: `Bearer ${String(json['access_token'])}`, 'content-type': 'application/json' };
      const chat = JSON.stringify({ model: 'small', messages: [{ role: 'user', content: 'hi' }] });
      return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: chat })).status;
    };
    expect((await served.run()).status).toBe(200);
    await until('the model is served', async () => (await askModel()) === 200);
    await served.counted('day_tokens', 9);
    expect((await served.run()).status).toBe(200);
    used = 1;
    expect(await askModel()).toBe(200);
    await served.counted('day_tokens', 10);
    const refused = await served.run();
    expect([refused.status, refused.text.includes('budget_used')]).toEqual([429, true]);
    expect(refused.retryAfter).toBeGreaterThanOrEqual(1);
    expect(refused.retryAfter).toBeLessThanOrEqual(86_400);
    expect((await served.run('bob')).status).toBe(200);
  });
});
