import { expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { nearestLimits, nearestQueries } from './nearest-queries.ts';

const { queries: most, queryLength } = nearestLimits;
const messages = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => `${at} `.padEnd(length, 'x'));

test('each of as many messages as there are queries has its own query', () => {
  expect(nearestQueries([])).toEqual([]);
  for (const count of [1, 2, most]) expect(nearestQueries(messages(count, 50))).toEqual(messages(count, 50));
});

test('of more messages neighbours share a query, and the beginning of each is in one', () => {
  for (const count of [most + 1, memoryLimits.messagesOfAdd]) {
    for (const length of [50, memoryLimits.messageLength]) {
      const queries = nearestQueries(messages(count, length));
      expect(queries.length).toBeLessThanOrEqual(most);
      const beginnings = queries.flatMap((query) => query.split('\n').map((line) => Number(line.split(' ')[0])));
      expect(beginnings).toEqual(Array.from({ length: count }, (_, at) => at));
      for (const query of queries) expect(query.length).toBeLessThanOrEqual(queryLength);
    }
  }
});

test('a long message has several queries, and all messages together have no more than the bound', () => {
  const [long = ''] = messages(1, memoryLimits.messageLength);
  expect(nearestQueries([long]).join('')).toBe(long);
  expect(nearestQueries([long.slice(0, queryLength)])).toHaveLength(1);
  expect(nearestQueries([long.slice(0, queryLength + 1)])).toHaveLength(2);
  for (let count = 1; count <= most; count += 1) {
    const queries = nearestQueries(messages(count, memoryLimits.messageLength));
    expect(queries.length).toBeLessThanOrEqual(most);
    expect(new Set(queries.map((query) => query.split(' ')[0])).size).toBeGreaterThanOrEqual(count);
    for (const query of queries) expect(query.length).toBeLessThanOrEqual(queryLength);
  }
});

test('no query ends or begins within a surrogate pair', () => {
  for (const count of [1, most, most + 1]) {
    const queries = nearestQueries(Array.from({ length: count }, () => `x${'😀'.repeat(16_000)}`));
    expect(queries.filter((query) => !query.isWellFormed())).toEqual([]);
  }
});
