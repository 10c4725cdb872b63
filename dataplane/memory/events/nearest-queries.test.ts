import { expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { nearestLimits, nearestQueries } from './nearest-queries.ts';

const { queries: most, queryLength } = nearestLimits;
const messages = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => `${at} `.padEnd(length, 'x'));
const beginningsIn = (queries: readonly string[]) =>
  queries.flatMap((query) => query.split('\n').flatMap((line) => /^\d+(?= )/.exec(line)?.map(Number) ?? []));

test('each message has a separate query if there are enough queries', () => {
  expect(nearestQueries([])).toEqual([]);
  for (const count of [1, 2, most]) expect(nearestQueries(messages(count, 50))).toEqual(messages(count, 50));
});

test('neighbouring messages share a query if there are too few queries, and the beginning of each message is in a query', () => {
  for (const count of [most + 1, memoryLimits.messagesOfAdd]) {
    for (const length of [50, memoryLimits.messageLength]) {
      const queries = nearestQueries(messages(count, length));
      expect(queries.length).toBeLessThanOrEqual(most);
      expect(beginningsIn(queries)).toEqual(Array.from({ length: count }, (_, at) => at));
      for (const query of queries) expect(query.length).toBeLessThanOrEqual(queryLength);
    }
  }
});

test('a long message has several queries, and all messages together do not exceed the limit', () => {
  const [long = ''] = messages(1, memoryLimits.messageLength);
  expect(nearestQueries([long]).join('')).toBe(long);
  expect(nearestQueries([long.slice(0, queryLength)])).toHaveLength(1);
  expect(nearestQueries([long.slice(0, queryLength + 1)])).toHaveLength(2);
  for (let count = 1; count <= most; count += 1) {
    const queries = nearestQueries(messages(count, memoryLimits.messageLength));
    expect(queries.length).toBeLessThanOrEqual(most);
    expect(beginningsIn(queries)).toEqual(Array.from({ length: count }, (_, at) => at));
    for (const query of queries) expect(query.length).toBeLessThanOrEqual(queryLength);
  }
});

test('a long message uses the queries that short messages do not need', () => {
  const part = (no: number) => `part ${no} `.padEnd(queryLength, 'x');
  const long = (parts: number) => Array.from({ length: parts }, (_, no) => part(no)).join('');
  const short = messages(10, 50);
  const left = most - short.length;
  expect(nearestQueries([...short, long(left)])).toContain(part(left - 1));
  const tooLong = nearestQueries([long(left + 1), ...short]);
  expect(tooLong).toEqual(expect.arrayContaining([...short, part(left - 1)]));
  expect(tooLong).not.toContain(part(left));
});

test('long messages have the same number of queries, even if other messages share a query', () => {
  const long = (name: string) =>
    Array.from({ length: 30 }, (_, no) => `${name}${no} `.padEnd(queryLength, 'x')).join('');
  const partsOf = (queries: readonly string[], name: string) =>
    new Set(queries.flatMap((query) => query.match(new RegExp(`${name}\\d+ `, 'g')) ?? [])).size;
  for (const count of [8, most - 1]) {
    const queries = nearestQueries([long('a'), ...messages(count, 50), long('b')]);
    expect(queries).toHaveLength(most);
    expect(partsOf(queries, 'a')).toBeGreaterThan(5);
    expect(Math.abs(partsOf(queries, 'a') - partsOf(queries, 'b'))).toBeLessThanOrEqual(1);
  }
});

test('a query has at most 1,000 units, so that an embedder of 512 tokens accepts most of them', () => {
  const [long = ''] = messages(1, memoryLimits.messageLength);
  expect(Math.max(...nearestQueries([long]).map(({ length }) => length))).toBe(1_000);
});

test('no query ends or begins within a surrogate pair', () => {
  for (const count of [1, most, most + 1]) {
    const queries = nearestQueries(Array.from({ length: count }, () => `x${'😀'.repeat(16_000)}`));
    expect(queries.filter((query) => !query.isWellFormed())).toEqual([]);
  }
});
