import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { writeAgent } from '../feed/write-agent.ts';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

type Page = { readonly items: readonly { readonly agentId: string }[]; readonly nextCursor: string | null };

describe.skipIf(missingPostgres !== undefined)(onPostgres('pages of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  let agents: readonly AgentSketch[];
  const page = async (query: string, person = 'ann'): Promise<Page> => {
    const { status, json, text } = await world.ask(person, `/api/v1/agents${query}`);
    if (status !== 200) throw new Error(`the list was answered ${status}: ${text}`);
    return json as unknown as Page;
  };
  const idsOf = ({ items }: Page) => items.map(({ agentId }) => agentId);
  const refusal = async (query: string, person = 'ann', path = '/api/v1/agents') => {
    const { status, json } = await world.ask(person, `${path}${query}`);
    return [status, (json['error'] as { readonly code?: string } | undefined)?.code, json['items']];
  };
  const cursorInvalid = [400, 'cursor_invalid', undefined];

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
    agents = await Promise.all(
      Array.from({ length: 7 }, (_one, at) =>
        world.publish(`paged-${at}`, {
          workspace: at % 2 === 0 ? 'support' : 'sales',
          owner: { issuer: 'https://people.example', subject: at === 0 ? 'olga' : 'otto' },
          ...(at === 5 ? { modes: ['mcp_tool'] as const, cardReason: 'NoCard' } : {}),
        }),
      ),
    );
    await world.allow('ann', 'view', ...agents.slice(0, 6));
    await world.allow('bob', 'view', ...agents);
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    ['catalogue:list:limit', 'catalogue:list:cursor'],
    'each page is full, the pages contain every visible agent once, and the last page has no cursor',
    async () => {
      const visible = agents.slice(0, 6).map(({ agentId }) => agentId);
      for (const limit of [1, 2, 4, 5, 6, 100]) {
        const seen: string[] = [];
        let next: string | null = '';
        for (let turn = 0; next !== null; turn += 1) {
          const found: Page = await page(`?limit=${limit}${next === '' ? '' : `&cursor=${next}`}`);
          seen.push(...idsOf(found));
          next = found.nextCursor;
          expect(found.items).toHaveLength(Math.min(limit, visible.length - turn * limit));
        }
        expect(seen).toEqual(visible.toSorted());
      }
      for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
        expect(await refusal(`?limit=${limit}`)).toEqual([400, 'invalid_request', undefined]);
      }
    },
  );

  verifies(
    [
      'catalogue:filter:workspace-id',
      'catalogue:filter:protocol',
      'catalogue:filter:implementation-type',
      'catalogue:filter:owner',
      'catalogue:implementation-type:mcp-refused',
      'catalogue:record:protocol-values',
      'catalogue:record:implementation-type-values',
      'catalogue:error:shape',
    ],
    'each filter returns only the matching agents, and an unknown value is refused',
    async () => {
      const named = (...at: readonly number[]) => at.map((one) => agents[one]?.agentId ?? '').toSorted();
      expect(idsOf(await page('?workspaceId=sales'))).toEqual(named(1, 3, 5));
      expect(idsOf(await page('?protocol=mcp'))).toEqual(named(5));
      expect(idsOf(await page('?protocol=a2a&workspaceId=sales'))).toEqual(named(1, 3));
      expect(idsOf(await page('?implementationType=low-code'))).toEqual(named(0, 1, 2, 3, 4, 5));
      expect(idsOf(await page('?implementationType=sdk'))).toEqual([]);
      const olga = 'ownerType=user&ownerIssuer=https%3A%2F%2Fpeople.example&ownerSubject=olga';
      expect(idsOf(await page(`?${olga}`))).toEqual(named(0));
      expect(idsOf(await page(`?${olga.replace('people', 'other')}`))).toEqual([]);
      for (const query of [
        'protocol=http',
        'protocol=A2A',
        'implementationType=mcp',
        'implementationType=',
        'ownerType=group',
        'workspaceId=',
        'workspaceId=a&workspaceId=b',
        `workspaceId=${'w'.repeat(256)}`,
        'name=paged',
        'state=gone',
      ]) {
        expect([query, ...(await refusal(`?${query}`))]).toEqual([query, 400, 'invalid_request', undefined]);
      }
      expect(idsOf(await page(`?workspaceId=${'w'.repeat(255)}`))).toEqual([]);
    },
  );

  verifies(
    [
      'catalogue:cursor:tampered',
      'catalogue:cursor:never-unfiltered',
      'catalogue:error-code:cursor-invalid',
      'catalogue:cursor:other-identity',
      'catalogue:cursor:other-filters',
    ],
    'a cursor that is changed, truncated, issued elsewhere or used with other filters is refused, and opens no page',
    async () => {
      const { nextCursor } = await page('?limit=2&workspaceId=support');
      const cursor = nextCursor ?? '';
      expect(idsOf(await page(`?limit=2&workspaceId=support&cursor=${cursor}`))).toHaveLength(1);
      const bytes = Buffer.from(cursor, 'base64url');
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        const query = `?limit=2&workspaceId=support&cursor=${changed.toString('base64url')}`;
        expect(await refusal(query)).toEqual(cursorInvalid);
      }
      for (const wrong of ['', 'x', 'garbage', cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}%3D`]) {
        expect([wrong, ...(await refusal(`?workspaceId=support&cursor=${wrong}`))]).toEqual([wrong, ...cursorInvalid]);
      }
      expect(await refusal(`?workspaceId=support&cursor=${cursor}`, 'bob')).toEqual(cursorInvalid);
      const acting = await world.token('ann', { act: { sub: 'helper' } });
      expect(await refusal(`?workspaceId=support&cursor=${cursor}`, acting)).toEqual(cursorInvalid);
      const inTenant = await world.token('ann', { tenants: ['acme'] });
      expect(await refusal(`?workspaceId=support&cursor=${cursor}`, inTenant)).toEqual(cursorInvalid);
      const added = ['protocol=a2a', 'implementationType=low-code', 'state=active', 'ownerType=user', 'ownerIssuer=a'];
      for (const filters of [
        '',
        'workspaceId=sales',
        ...[...added, 'ownerSubject=b'].map((filter) => `workspaceId=support&${filter}`),
      ]) {
        expect([filters, ...(await refusal(`?${filters}&cursor=${cursor}`))]).toEqual([filters, ...cursorInvalid]);
      }
      expect(await refusal(`?workspaceId=support&cursor=${cursor}`, 'ann', '/api/v2/agents')).toEqual(cursorInvalid);
    },
  );

  verifies(
    ['catalogue:cursor:encrypted', 'catalogue:cursor:hides-hidden-count'],
    'two cursors of one position differ, have the same length, and contain nothing readable',
    async () => {
      const [first, again, wide] = await Promise.all([page('?limit=1'), page('?limit=1'), page('?limit=5', 'bob')]);
      const cursors = [first, again, wide].map(({ nextCursor }) => nextCursor ?? '');
      expect(new Set(cursors).size).toBe(3);
      expect(new Set(cursors.map((one) => one.length)).size).toBe(1);
      const hex = cursors.map((one) => Buffer.from(one, 'base64url').toString('hex')).join(' ');
      for (const { agentId } of agents) expect(hex).not.toContain(agentId.replaceAll('-', '').slice(0, 8));
      expect(hex).not.toContain(Buffer.from('ann').toString('hex'));
    },
  );

  verifies(['catalogue:cursor:key-rotation'], 'a new secret makes every earlier cursor invalid', async () => {
    const { nextCursor } = await page('?limit=2');
    expect(idsOf(await page(`?limit=2&cursor=${nextCursor}`))).toHaveLength(2);
    writeFileSync(world.cursorKeyFile, 'another-secret-of-cursors-with-enough-characters\n');
    // The file is checked once a second.
    await until('the cursor is refused', async () => (await refusal(`?cursor=${nextCursor}`))[0] === 400);
    expect(await refusal(`?limit=2&cursor=${nextCursor}`)).toEqual(cursorInvalid);
    const renewed = (await page('?limit=2')).nextCursor;
    expect(idsOf(await page(`?limit=2&cursor=${renewed}`))).toHaveLength(2);
  });

  verifies(
    ['catalogue:type-combination:independent'],
    'all four combinations of protocol and implementation type occur in records and filters',
    async () => {
      const pairs = (['a2a', 'mcp'] as const).flatMap((protocol) =>
        (['sdk', 'low-code'] as const).map((type) => [protocol, type] as const),
      );
      for (const [at, [protocol, type]] of pairs.entries()) {
        const agentId = `01890a5d-ac96-774b-bcce-b302099a810${at}`;
        await world.database.sql.begin((sql) =>
          writeAgent(sql, {
            agent_id: agentId,
            resource: `pair-${at}`,
            name: `Pair ${at}`,
            description: '',
            workspace: 'pairs',
            owner_issuer: 'https://people.example',
            owner_subject: 'olga',
            state: 'active',
            protocol,
            implementation_type: type,
            version_id: agentId,
            skills: [],
            url: null,
            is_ready: false,
            is_consistent: false,
            is_routed: false,
            exposure: 'R1',
            is_contested: false,
          }),
        );
        await world.relations.grant([
          { subject: 'user:https%3A//people.example|pia', relation: 'view', object: `agent:${agentId}` },
        ]);
        const found = await page(`?protocol=${protocol}&implementationType=${type}`, 'pia');
        expect(found.items).toMatchObject([{ agentId, protocol, implementationType: type }]);
      }
      expect((await page('', 'pia')).items).toHaveLength(4);
    },
  );
});
