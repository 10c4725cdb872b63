import { expect, test } from 'vitest';
import { scoreAgents } from './score-agents.ts';

const ranking = (...ids: readonly string[]) => ids.map((id, at) => ({ id, score: 1 - at / 10 }));

test('an agent whose change is being applied to the index has two entries and is found once, with the better score', () => {
  const once = scoreAgents([ranking('a/2', 'b/1', 'c/1'), ranking('b/1', 'a/1', 'c/1')], 0);
  const twice = scoreAgents([ranking('a/2', 'a/1', 'b/1', 'c/1'), ranking('b/1', 'a/1', 'a/2', 'c/1')], 0);
  expect(twice.map(({ agentId }) => agentId)).toEqual(['a', 'b', 'c']);
  expect(twice).toEqual(once);
});

test('an agent that is first in every ranking has the score 1, and one at the floor does not count as near', () => {
  const byVectors = [
    { id: 'a/1', score: 0.9 },
    { id: 'b/1', score: 0.5 },
  ];
  expect(scoreAgents([ranking('a/1'), byVectors], 0.5)).toEqual([{ agentId: 'a', score: 1 }]);
  expect(scoreAgents([ranking('a/1'), byVectors], 0.4).map(({ agentId }) => agentId)).toEqual(['a', 'b']);
  expect(scoreAgents([ranking('a/1')], 0)).toEqual([{ agentId: 'a', score: 1 }]);
});
