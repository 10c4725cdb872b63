import { expect, test } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', tier: 'front', 'portcullis.dev/id': '0190' };

test.each([
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app=db', false],
  ['app!=db', true],
  ['app!=web', false],
  ['absent!=x', true],
  ['absent=', false],
  ['app', true],
  ['absent', false],
  ['!absent', true],
  ['!app', false],
  ['app in (db, web)', true],
  ['app in (db)', false],
  ['app notin (db)', true],
  ['absent notin (db)', true],
  ['app notin (web,db)', false],
  ['portcullis.dev/id=0190,tier in (front,back),!absent', true],
  ['app=web,tier=back', false],
  ['toString', false],
])('%j selects: %s', (text, wanted) => {
  expect(parseLabelSelector(text)(labels)).toBe(wanted);
});

test('an object without labels matches no selector that requires a label', () => {
  expect(parseLabelSelector('a')(undefined)).toBe(false);
  expect(parseLabelSelector('!a')(undefined)).toBe(true);
  expect(parseLabelSelector(undefined)(undefined)).toBe(true);
});

test.each(['a=b=c', 'a in b', '(a)', 'a in (b', '=a', 'a b'])('the label selector %j is refused', (text) => {
  expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ reason: 'BadRequest' }));
});
