import { expect, test } from 'vitest';
import type { ManagedAgent, ManagedVersion } from '#contracts/managed-agents';
import { en } from '../words/en.ts';
import { agentPage } from './agent.ts';
import type { PageContext } from './page.ts';

const [agentId, versionId] = ['1', '2'].map((end) => `01900000-0000-7000-8000-00000000000${end}`) as [string, string];
const page = { words: en, language: 'en', session: { csrf: '' } } as unknown as PageContext;
const version: ManagedVersion = {
  name: 'desk-1',
  versionId,
  roles: ['served'],
  percent: null,
  state: 'ready',
  hasFlow: true,
  isUnguarded: false,
  summary: 'AgentVersion desk-1 is ready.',
  whatToDo: null,
};
const agent: Omit<ManagedAgent, 'versions'> = {
  name: 'desk',
  agentId,
  state: 'ready',
  summary: 'Agent desk is served.',
  whatToDo: null,
  steps: [],
};

/** The links below the version on the page of its agent. */
async function linksOf(change: Partial<ManagedVersion>, hasGateway = true): Promise<readonly string[]> {
  const managed: ManagedAgent = { ...agent, versions: [{ ...version, ...change }] };
  const shown = { agentId, record: undefined, managed, noChat: 'address', runs: undefined, hasGateway } as const;
  const text = String(await agentPage(page, shown).main);
  const base = `/agents/${agentId}/versions/${versionId}/`;
  return [...text.matchAll(/href="([^"]*)"/g)].flatMap(([, href = '']) =>
    href.startsWith(base) ? [href.slice(base.length)] : [],
  );
}

test('each version of a flow that the gateway can reach has links to its flow and its runs', async () => {
  for (const role of ['served', 'canary', 'previous'] as const) {
    expect(await linksOf({ roles: ['wanted', role] })).toEqual(['flow', 'runs']);
  }
});

test('a version that the gateway cannot reach has no link to runs', async () => {
  expect(await linksOf({ roles: ['wanted'] })).toEqual(['flow']);
  expect(await linksOf({ roles: [] })).toEqual(['flow']);
  expect(await linksOf({}, false)).toEqual(['flow']);
});

test('the version of an image and a version that does not exist have no link to a flow and to runs', async () => {
  expect(await linksOf({ hasFlow: false })).toEqual([]);
  expect(await linksOf({ hasFlow: false, versionId: null, state: null })).toEqual([]);
});
