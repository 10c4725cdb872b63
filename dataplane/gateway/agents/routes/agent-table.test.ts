import { expect, test, vi } from 'vitest';
import { type AgentRouteSpec, agentRouteFormat } from '#resources/agent-route';
import { routedVersion } from '../testing/start-agent-plane.ts';
import { AgentTable } from './agent-table.ts';

const [first, second] = ['01890a5d-ac96-774b-bcce-b302099a8061', '01890a5d-ac96-774b-bcce-b302099a8062'];
const version = routedVersion({ url: 'http://127.0.0.1:1' });

function specOf(agentId: string, name: string): AgentRouteSpec {
  const agent = { name, uid: agentId };
  return { formatVersion: agentRouteFormat, agentId, agent, cards: 'View', exposure: 'R2', versions: [version] };
}

/** A table in which `put` adds the next version of a route; a verified version serves. */
function openTable() {
  const table = new AgentTable('team');
  let count = 0;
  const put = (route: string, agentId: string, agentName: string, isProved = true): void => {
    count += 1;
    const seen = { name: route, uid: `uid-${route}`, version: String(count), created: 0 };
    table.observe({ ...seen, spec: specOf(agentId, agentName) });
    if (isProved) table.probed(route, seen.version, { kind: 'proved' });
  };
  return { table, put };
}

test('the agent of a name is found without a walk over all routes', () => {
  const { table, put } = openTable();
  put('one', first, 'question');
  const state = vi.spyOn(table, 'state');
  expect([table.named('question'), table.named(first), table.named('absent')]).toEqual([first, first, undefined]);
  expect(state).not.toHaveBeenCalled();
});

test('a name resolves to the agent whose route serves with it', () => {
  const { table, put } = openTable();
  put('one', first, 'question', false);
  expect(table.named('question')).toBeUndefined();
  put('one', first, 'question');
  put('one', first, 'answer', false);
  expect([table.named('question'), table.named('answer')]).toEqual([first, undefined]);
  put('one', first, 'answer');
  expect([table.named('question'), table.named('answer')]).toEqual([undefined, first]);
  table.remove('one');
  expect(table.named('answer')).toBeUndefined();
});

test('a name that two routes serve with resolves to no agent until one of the routes is removed', () => {
  const { table, put } = openTable();
  put('one', first, 'question');
  put('two', second, 'question');
  expect(table.named('question')).toBeUndefined();
  table.remove('one');
  expect(table.named('question')).toBe(second);
});

test('a route that moves to another agent serves with no name until it is verified again', () => {
  const { table, put } = openTable();
  put('one', first, 'question');
  put('one', second, 'question', false);
  expect(table.named('question')).toBeUndefined();
  put('one', second, 'question');
  expect(table.named('question')).toBe(second);
});
