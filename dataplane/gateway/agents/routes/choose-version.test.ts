import { expect, test } from 'vitest';
import type { AgentRouteSpec } from '#resources/agent-route';
import { chooseVersion } from './choose-version.ts';

const version = (versionId: string) => ({ versionId }) as AgentRouteSpec['versions'][number];
const route = (percent: number | undefined): AgentRouteSpec => ({
  formatVersion: 1,
  agentId: 'agent',
  agent: { name: 'agent', uid: 'uid' },
  served: 'one',
  ...(percent === undefined ? {} : { canary: { versionId: 'two', percent } }),
  versions: [version('one'), version('two')],
  cards: 'View',
  exposure: 'R2',
});
const people = Array.from({ length: 10_000 }, (_, at) => ({ issuer: 'https://people.example', subject: `p-${at}` }));
const chosen = (percent: number | undefined) =>
  people.map((person) => chooseVersion(route(percent), undefined, person)?.versionId);

test('an agent version on trial gets its share of the users, and each user always reaches the same version', () => {
  for (const percent of [1, 10, 50, 99]) {
    const versions = chosen(percent);
    const share = versions.filter((one) => one === 'two').length / people.length;
    expect(Math.abs(share - percent / 100)).toBeLessThan(0.02);
    expect(chosen(percent)).toEqual(versions);
  }
});

test('when the share of a trial grows, its previous users stay in it', () => {
  const [small, large] = [chosen(10), chosen(30)];
  expect(small.every((one, at) => one === 'one' || large[at] === 'two')).toBe(true);
  expect(new Set(chosen(undefined))).toEqual(new Set(['one']));
});

test('calls with a task or a session go to the served agent version, and a path with a version goes to that version', () => {
  expect(chooseVersion(route(99), undefined, undefined)?.versionId).toBe('one');
  for (const person of people.slice(0, 100)) {
    expect(chooseVersion(route(99), 'one', person)?.versionId).toBe('one');
    expect(chooseVersion(route(99), 'three', person)).toBeUndefined();
  }
});
