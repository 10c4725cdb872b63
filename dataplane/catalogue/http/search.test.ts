import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { countedWords } from '../testing/counted-words.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

type Match = { readonly agentId: string; readonly score: number; readonly protocol: string };

describe.skipIf(missingPostgres !== undefined)(onPostgres('search in the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  const models = countedWords();
  let world: CatalogueWorld;
  let agents: Readonly<Record<string, AgentSketch>>;

  const send = (person: string, body: unknown, path = '/api/v1/agents/search') =>
    world.ask(person, path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  const find = async (person: string, query: string, more: object = {}): Promise<readonly Match[]> => {
    const { status, json, text } = await send(person, { query, workspaceId: 'support', ...more });
    if (status !== 200) throw new Error(`the search was answered ${status}: ${text}`);
    return json['matches'] as readonly Match[];
  };
  const namesOf = (matches: readonly Match[]) =>
    matches.map(({ agentId }) => Object.keys(agents).find((name) => agents[name]?.agentId === agentId));

  beforeAll(async () => {
    world = parts.use(await openCatalogue({ overrides: { models }, config: { embeddingProfile: 'words' } }));
    const publish = (name: string, description: string, more: Partial<AgentSketch> = {}) =>
      world.publish(name, { title: name, description, skills: [{ id: 'a', name, description }], ...more });
    const [payroll, holiday, invoice, secret, tool, away] = await Promise.all([
      publish('payroll', 'Answers questions about salaries, payslips and tax.'),
      publish('holiday', 'Books holidays and answers questions about leave.'),
      publish('invoice', 'Reads invoices and answers questions about payments.'),
      publish('secret', 'Salaries salaries salaries of the board, payslips and tax.'),
      publish('tool', 'Calculates tax.', { modes: ['mcp_tool'], cardReason: 'NoCard' }),
      publish('away', 'Salaries in another workspace.', { workspace: 'sales' }),
    ]);
    agents = { payroll, holiday, invoice, secret, tool, away };
    await world.allow('ann', 'invoke', payroll, holiday, invoice, tool, away);
    await world.allow('ann', 'view', secret);
    await world.allow('all', 'invoke', ...Object.values(agents));
    await until('every agent has a vector', async () => {
      const [row] = await world.database.sql<{ open: number }[]>`
        select count(*)::int as open from catalogue.entries where is_listed and vector is null`;
      return row?.open === 0;
    });
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    [
      'catalogue:search:invoke',
      'catalogue:search-request:workspace-id',
      'catalogue:search-response:matches',
      'catalogue:search-request:profile',
    ],
    'a search returns the agents of a workspace that the caller may invoke, best first',
    async () => {
      const found = await find('ann', 'salaries and payslips');
      expect(namesOf(found)[0]).toBe('payroll');
      expect(namesOf(found)).not.toContain('secret');
      expect(namesOf(found)).not.toContain('away');
      expect(found[0]).toMatchObject({ invocationInterface: { exposure: 'public_gateway' } });
      expect(namesOf(await find('all', 'salaries')).slice(0, 2)).toEqual(['secret', 'payroll']);
      expect(namesOf(await find('ann', 'salaries', { workspaceId: 'sales' }))).toEqual(['away']);
      expect(namesOf(await find('ann', 'salaries', { profile: 'terms' }))).toEqual(['payroll']);
      const empty = { json: { matches: [] }, status: 200 };
      expect(await send('ann', { query: 'salaries', workspaceId: 'none' })).toMatchObject(empty);
      expect(await send('bob', { query: 'salaries', workspaceId: 'support' })).toMatchObject(empty);
    },
  );

  verifies(
    ['catalogue:search-response:empty', 'catalogue:search-request:min-score'],
    'a query without a fitting agent has no match in any profile, and no minScore adds one',
    async () => {
      for (const query of [
        'zebra',
        'volcanoes under the glacier',
        'Where is the nearest lighthouse, and what does it look like?',
      ]) {
        for (const more of [
          {},
          { profile: 'hybrid' },
          { profile: 'terms' },
          { minScore: 0 },
          { topK: 50, minScore: 0.000_1 },
        ]) {
          const { status, json } = await send('ann', { query, workspaceId: 'support', ...more });
          expect([query, more, status, json]).toEqual([query, more, 200, { matches: [] }]);
        }
      }
      for (const profile of ['hybrid', 'terms']) {
        const related = await find('ann', 'Which volcanoes have salaries?', { profile });
        expect([profile, namesOf(related)]).toEqual([profile, ['payroll']]);
        for (const { score } of related) expect(score).toBeGreaterThan(0);
      }
      expect(await find('ann', 'and the', { profile: 'terms' })).toEqual([]);
    },
  );

  verifies(
    ['catalogue:search:hybrid'],
    'agents that the caller may not invoke change neither matches nor order nor scores',
    async () => {
      const before = await find('ann', 'salaries tax questions');
      const more = await Promise.all(
        Array.from({ length: 5 }, (_one, at) =>
          world.publish(`hidden-${at}`, { description: 'Salaries tax questions salaries tax questions.' }),
        ),
      );
      await world.allow('bob', 'invoke', ...more);
      expect(await find('bob', 'salaries tax questions')).toHaveLength(5);
      expect(await find('ann', 'salaries tax questions')).toEqual(before);
    },
  );

  verifies(
    [
      'catalogue:search-request:protocols',
      'catalogue:search-request:implementation-types',
      'catalogue:search-request:top-k',
      'catalogue:search-request:min-score',
    ],
    'protocols, types, topK and minScore only remove matches',
    async () => {
      const all = await find('ann', 'tax questions');
      expect(all.length).toBeGreaterThan(2);
      expect(namesOf(await find('ann', 'tax questions', { protocols: ['mcp'] }))).toEqual(['tool']);
      const both = await find('ann', 'tax questions', { protocols: ['a2a', 'mcp'], implementationTypes: ['low-code'] });
      expect(both).toEqual(all);
      expect(await find('ann', 'tax questions', { implementationTypes: ['sdk'] })).toEqual([]);
      expect(await find('ann', 'tax questions', { protocols: [] })).toEqual([]);
      expect(await find('ann', 'tax questions', { topK: 2 })).toEqual(all.slice(0, 2));
      for (const minScore of [0, 0.2, 0.5, 0.9, 1]) {
        expect(await find('ann', 'tax questions', { minScore })).toEqual(all.filter(({ score }) => score >= minScore));
      }
      for (const { score } of all) expect(score > 0 && score <= 1).toBe(true);
    },
  );

  verifies(
    [
      'catalogue:search-request:query',
      'catalogue:search-request:user-id',
      'catalogue:search-request:roles',
      'catalogue:search-request:access-decision',
      'catalogue:implementation-type:mcp-refused',
      'catalogue:error-leak:query-text',
    ],
    'a malformed body, and an identity or decision in it, is refused; no search runs and no text is repeated',
    async () => {
      const valid = { query: 'salaries', workspaceId: 'support' };
      const calls = models.embedded();
      const wrong: readonly unknown[] = [
        { workspaceId: 'support' },
        { query: 'salaries' },
        { ...valid, query: 7 },
        { ...valid, query: '' },
        { ...valid, query: '  ' },
        { ...valid, query: 'w'.repeat(2_001) },
        { ...valid, workspaceId: 7 },
        { ...valid, protocols: 'a2a' },
        { ...valid, protocols: ['http'] },
        { ...valid, implementationTypes: 'sdk' },
        { ...valid, implementationTypes: ['mcp'] },
        { ...valid, topK: '3' },
        { ...valid, topK: 1.5 },
        { ...valid, topK: 0 },
        { ...valid, topK: 51 },
        { ...valid, minScore: '0' },
        { ...valid, minScore: 1.1 },
        { ...valid, minScore: -0.1 },
        { ...valid, profile: 'unknown' },
        { ...valid, userId: 'all' },
        { ...valid, roles: ['admin'] },
        { ...valid, allowedAgentIds: ['x'] },
        { ...valid, access: { invoke: true } },
        '{"query": "salaries", "query": "salaries", "workspaceId": "support"}',
        '{',
        '[]',
      ];
      for (const body of wrong) {
        const { status, json, text } = await send('ann', body);
        const { code } = json['error'] as { readonly code: string };
        expect([JSON.stringify(body), status, code]).toEqual([JSON.stringify(body), 400, 'invalid_request']);
        expect(text).not.toContain('salaries');
      }
      expect(models.embedded()).toBe(calls);
      expect(await find('ann', 'w'.repeat(2_000))).toEqual(await find('ann', 'w'.repeat(1_999)));
      expect((await send('ann', { ...valid, topK: 50, minScore: 1 }, '/api/v2/agents/search')).status).toBe(200);
    },
  );

  verifies(
    ['catalogue:error:unavailable', 'catalogue:error:unavailable-reads'],
    'without vectors a search is refused with 503, and lists and reads continue',
    async () => {
      models.failure = new ModelsError('unavailable');
      const { status, json } = await send('ann', { query: 'salaries', workspaceId: 'support' });
      expect([status, (json['error'] as { code: string }).code]).toEqual([503, 'search_unavailable']);
      expect((await world.ask('ann', '/api/v1/agents')).status).toBe(200);
      expect((await world.ask('all', `/api/v1/agents/${agents['secret']?.agentId}`)).status).toBe(404);
      models.failure = undefined;
      expect(await find('ann', 'salaries')).not.toEqual([]);
    },
  );

  verifies(
    [
      'catalogue:query-text:not-in-database',
      'catalogue:query-text:not-in-index',
      'catalogue:query-text:not-in-telemetry',
    ],
    'after a search the text of its query is in no table, metric or log line',
    async () => {
      const marker = 'zyxmarkerquery';
      await find('ann', `${marker} salaries`);
      const tables = await world.database.sql<{ name: string }[]>`
        select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_schema not in ('pg_catalog', 'information_schema')`;
      expect(tables.length).toBeGreaterThan(4);
      for (const { name } of tables) {
        const rows = await world.database.sql.unsafe(`select t::text as row from ${name} t`);
        expect([name, rows.filter((row) => String(row['row']).includes(marker)).length]).toEqual([name, 0]);
      }
      const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
      expect(metrics).toContain('portcullis_catalogue_requests_total');
      expect(metrics).not.toContain(marker);
      expect(world.log()).toContain('request_ended');
      expect(world.log()).not.toContain(marker);
    },
  );
});
