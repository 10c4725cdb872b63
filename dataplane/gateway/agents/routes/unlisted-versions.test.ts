import { expect, test } from 'vitest';
import { type AgentRouteSpec, agentRouteFormat } from '#resources/agent-route';
import { agentId, firstVersion, routedVersion, secondVersion } from '../testing/start-agent-plane.ts';
import { AgentTable } from './agent-table.ts';

/** The longest call of a version, milliseconds. */
const keptMs = 930_000;
const seen = { name: 'question', uid: 'uid-route', created: 0 };
const place = { url: 'http://127.0.0.1:1' };

/** A table with a separate clock, whose route `list` changes. */
function openTable() {
  const clock = { now: 0 };
  const table = new AgentTable('agents', () => clock.now);
  let version = 0;
  const observe = (versionId: string, more: Partial<AgentRouteSpec> = {}, route: Partial<typeof seen> = {}): void => {
    version += 1;
    const spec: AgentRouteSpec = {
      ...{ formatVersion: agentRouteFormat, agentId, cards: 'View', exposure: 'R2', served: versionId },
      agent: { name: 'question', uid: 'uid-agent' },
      versions: [routedVersion(place, { versionId, version: `v${version}` })],
      ...more,
    };
    table.observe({ ...seen, ...route, version: String(version), spec });
  };
  const list = (...changed: Parameters<typeof observe>): void => {
    observe(...changed);
    table.probed(seen.name, String(version), { kind: 'proved' });
  };
  const nameOf = (versionId: string) => table.versionOfRun({ agentId, versionId })?.version.version;
  return { clock, table, observe, list, nameOf };
}

test('the runs of a version that its route no longer lists can use it for 930 s after it was unlisted', () => {
  const { clock, list, nameOf } = openTable();
  list(firstVersion);
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', undefined]);
  clock.now = 5_000;
  list(secondVersion);
  clock.now += keptMs - 1;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', 'v2']);
  clock.now += 1;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual([undefined, 'v2']);
});

test('the time of an unlisted version begins when it leaves the route, and a version that is listed again has no such time', () => {
  const { clock, list, nameOf } = openTable();
  list(firstVersion);
  list(secondVersion);
  clock.now = keptMs - 1;
  list(firstVersion);
  clock.now += keptMs;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v3', undefined]);
  list(secondVersion);
  clock.now += keptMs - 1;
  expect(nameOf(firstVersion)).toBe('v3');
});

test('runs cannot use versions of a removed route, of another route or of another Agent of the same name', () => {
  const { table, list, nameOf } = openTable();
  list(firstVersion);
  table.remove(seen.name);
  expect(nameOf(firstVersion)).toBeUndefined();
  list(firstVersion);
  list(secondVersion, {}, { uid: 'uid-other-route' });
  expect(nameOf(firstVersion)).toBeUndefined();
  list(firstVersion, { agent: { name: 'question', uid: 'uid-other-agent' } }, { uid: 'uid-other-route' });
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v4', undefined]);
});

test('runs cannot use the versions of a route that moves to another agent', () => {
  const { table, list, nameOf } = openTable();
  const other = '01890a5d-ac96-774b-bcce-b302099a8078';
  list(firstVersion);
  list(secondVersion, { agentId: other });
  expect(nameOf(firstVersion)).toBeUndefined();
  expect(table.versionOfRun({ agentId: other, versionId: firstVersion })).toBeUndefined();
  list(secondVersion);
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual([undefined, 'v3']);
});

test('the runs of a version can use it from the first route that lists it, which another replica may have verified before', () => {
  const { clock, table, observe, nameOf } = openTable();
  observe(firstVersion);
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', undefined]);
  table.probed(seen.name, '1', { kind: 'proved' });
  observe(secondVersion);
  clock.now = keptMs;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', 'v2']);
  table.probed(seen.name, '2', { kind: 'proved' });
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', 'v2']);
});

test('a version of a route that was rejected here and then withdrawn can be used for 930 s', () => {
  const { clock, table, list, observe, nameOf } = openTable();
  list(firstVersion);
  observe(secondVersion);
  table.probed(seen.name, '2', { kind: 'contradicted', reason: 'card' });
  expect(nameOf(secondVersion)).toBe('v2');
  list(firstVersion);
  clock.now = keptMs - 1;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v3', 'v2']);
  clock.now = keptMs;
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v3', undefined]);
});

test('a version of a first route that never served here can be used after the next one serves, and not by another Agent', () => {
  const { observe, list, nameOf } = openTable();
  observe(firstVersion);
  list(secondVersion);
  expect([nameOf(firstVersion), nameOf(secondVersion)]).toEqual(['v1', 'v2']);
  observe('01890a5d-ac96-774b-bcce-b302099a8064');
  list(secondVersion, { agent: { name: 'question', uid: 'uid-other-agent' } });
  expect(nameOf('01890a5d-ac96-774b-bcce-b302099a8064')).toBeUndefined();
});

test('a version whose runs have ended is not kept in memory, even if its route does not change again', () => {
  const { clock, table, list } = openTable();
  list(firstVersion);
  expect(table.forgetUnlisted()).toBe(0);
  list(secondVersion);
  clock.now = keptMs - 1;
  expect(table.forgetUnlisted()).toBe(1);
  clock.now = keptMs;
  expect(table.forgetUnlisted()).toBe(0);
});
