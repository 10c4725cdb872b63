import { expect, test } from 'vitest';
import { isFound, overviewQuery, partOfList, readOverviewPlace } from './overview-place.ts';

const list = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const place = { attention: 1, models: 2, charts: 3, find: '' };

test.each([
  [undefined, 1],
  ['2', 2],
  ['9999', 9_999],
  ['10000', 10_000],
  ['10001', 10_000],
  ['0', 1],
  ['-1', 1],
  ['1e3', 1],
  ['<b>', 1],
])('the page of a list in the address %j is %j', (text, page) => {
  const place = readOverviewPlace((name) => (name === 'find' ? undefined : text));
  expect(place).toEqual({ attention: page, models: page, charts: page, find: '' });
});

test('a link to another page of one list keeps the pages of the other lists', () => {
  const options = { place, name: 'models', size: 10 } as const;
  expect(partOfList(list(21), options)).toEqual({
    ...{ items: list(20).slice(10), from: 11, to: 20, of: 21 },
    links: { first: '/overview?charts=3', next: '/overview?models=3&charts=3' },
  });
  expect(
    overviewQuery(readOverviewPlace((name) => new URLSearchParams(overviewQuery(place)).get(name) ?? undefined)),
  ).toBe('?models=2&charts=3');
  expect(overviewQuery({ attention: 1, models: 1, charts: 1, find: '' })).toBe('');
});

test('a list that fits into one page has no links, and one entry more has a next page', () => {
  const options = { place: { ...place, models: 1 }, name: 'models', size: 10 } as const;
  expect(partOfList(list(10), options).links).toEqual({ first: undefined, next: undefined });
  expect(partOfList(list(11), options).links.next).toBe('/overview?models=2&charts=3');
  expect(partOfList(list(11), { ...options, place }).items).toEqual([11]);
  expect(partOfList(list(10), { ...options, place }).items).toEqual(list(10));
  expect(partOfList([], options)).toMatchObject({ items: [], from: 1, to: 0, of: 0 });
});

test.each([
  [undefined, ''],
  ['  Chat ', 'chat'],
  ['a'.repeat(253), 'a'.repeat(253)],
  ['a'.repeat(254), 'a'.repeat(253)],
])('the searched text in the address %j is read as %j', (text, find) => {
  expect(readOverviewPlace((name) => (name === 'find' ? text : undefined)).find).toBe(find);
});

test('the address of a page keeps the searched text', () => {
  expect(overviewQuery({ ...place, find: 'a&b=c' })).toBe('?find=a%26b%3Dc&models=2&charts=3');
});

test.each([
  ['', true],
  ['chat', true],
  ['eu-', true],
  ['mail', false],
])('a model with the alias Chat and the name eu-chat is found by %j: %j', (find, expected) => {
  expect(isFound({ find }, 'Chat', 'eu-chat')).toBe(expected);
});
