import { expect, test } from 'vitest';
import { listHops } from './list-hops.ts';
import type { Rung } from './measure-http.ts';

function rungOf(what: string, callers: number, p50: number): Rung {
  return { what, callers, times: { p50, p95: 2 * p50 }, ratio: { p50: 1, p95: 1 } };
}

const medians = {
  'bare route with one select (local vectors)': 9,
  'hybrid query without the embedding call': 4.5,
  'bare route with one select (remote vectors)': 0.5,
  'read of the collection': 1.25,
  'query by terms': 4,
  'embedding alone': 0.75,
  'hybrid query with the embedding call': 6,
};
const rungs = Object.entries(medians).flatMap(([what, p50]) => [rungOf(what, 1, p50), rungOf(what, 16, 10 * p50)]);

test('the time of a hop of a hybrid query is the difference between two kinds of request, and the times of the hops add up to the time of the query', () => {
  expect(listHops(rungs, 1)).toEqual([
    { hop: 'HTTP and one select', ms: 0.5 },
    { hop: 'caller and rights', ms: 0.75 },
    { hop: 'index of terms, decision and citations', ms: 2.75 },
    { hop: 'index of vectors', ms: 0.5 },
    { hop: 'call for the embedding', ms: 1.5 },
  ]);
  expect(listHops(rungs, 16).reduce((sum, { ms }) => sum + ms, 0)).toBe(60);
});

test('a measurement without one kind of request is refused, because another hop would contain its time', () => {
  const without = rungs.filter(({ what }) => what !== 'query by terms');
  expect(() => listHops(without, 1)).toThrow('query by terms was not measured with 1 callers');
});
