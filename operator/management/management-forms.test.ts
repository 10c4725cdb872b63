import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { readConfig } from './config.ts';
import { etagOf, readIfMatch } from './etag.ts';
import { readCursor, writeCursor } from './http/cursor.ts';
import { readLimit } from './http/page-query.ts';
import { readPathId, readRevisionNumber } from './http/path-ids.ts';
import { changeToken, operationOfToken } from './policies/make-policy.ts';
import { PolicyOrder } from './policies/policy-order.ts';

const id = '01900000-0000-7000-8000-000000000001';

describe('entity tags', () => {
  test('of a policy and of a model with the same id, UID and generation differ, and move with the generation', () => {
    const one = { id, uid: 'uid', generation: 1 };
    const tags = [
      etagOf({ type: 'policy', ...one }),
      etagOf({ type: 'model', ...one }),
      etagOf({ type: 'policy', ...one, generation: 2 }),
      etagOf({ type: 'policy', ...one, uid: 'other' }),
    ];
    expect(new Set(tags).size).toBe(4);
    for (const tag of tags) expect(readIfMatch([tag])).toEqual({ kind: 'tag', tag });
  });

  test('are read once, strong, and nothing else', () => {
    expect(readIfMatch([])).toEqual({ kind: 'missing' });
    for (const never of ['*', 'W/"a"', '"a", "b"', '"a","b"']) expect(readIfMatch([never]).kind).toBe('never');
    expect(readIfMatch(['"a"', '"b"']).kind).toBe('never');
    for (const invalid of ['', 'a', '"a', 'a"', 'w/"a"', '"a" "b"', '"a",', ',', '**']) {
      expect([invalid, readIfMatch([invalid]).kind]).toEqual([invalid, 'invalid']);
    }
  });
});

describe('what stands in paths and queries', () => {
  test('ids are UUIDs of version 7, in lower case afterwards', () => {
    expect(readPathId(id.toUpperCase())).toBe(id);
    for (const wrong of [undefined, '', 'x', `${id}0`, id.replace('-7', '-4')])
      expect(readPathId(wrong)).toBeUndefined();
  });

  test('revisions are positive integers that fit', () => {
    expect([readRevisionNumber('1'), readRevisionNumber('2147483647')]).toEqual([1, 2_147_483_647]);
    for (const wrong of [undefined, '', '0', '01', '-1', '1.0', '1e1', '2147483648', 'x']) {
      expect(readRevisionNumber(wrong)).toBeUndefined();
    }
  });

  test('a page has 1 to 50 entries, 20 when nothing is said', () => {
    expect([readLimit(undefined), readLimit('1'), readLimit('50')]).toEqual([20, 1, 50]);
    for (const wrong of ['', '0', '51', '100', '-1', '1.5', ' 1']) expect(readLimit(wrong)).toBeUndefined();
  });

  test('a cursor is read as it was written, and anything else is none', () => {
    expect(readCursor(writeCursor(id))).toBe(id);
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => readCursor(text) === undefined));
    expect(readCursor(`${writeCursor(id)}=`)).toBeUndefined();
  });
});

test('the token of a write names its operation and generation', () => {
  expect(operationOfToken(changeToken(id, 7))).toEqual({ operationId: id, generation: 7 });
  for (const other of ['', id, `${id}/0`, `${id}/07`, `x/${id}/7`, 'kubectl'])
    expect(operationOfToken(other)).toBeUndefined();
});

describe('the order of policies', () => {
  const hex = fc.integer({ min: 0, max: 400 }).map((number) => number.toString(16).padStart(8, '0'));

  test('a walk visits what stays exactly once, whatever comes and goes meanwhile', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(hex, { maxLength: 60 }),
        fc.array(fc.record({ id: hex, add: fc.boolean() }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        (start, changes, limit) => {
          const order = new PolicyOrder();
          for (const one of start) order.add(one);
          const touched = new Set(changes.map((change) => change.id));
          const seen: string[] = [];
          let after: string | undefined;
          for (let turn = 0; ; turn++) {
            const { ids, more } = order.page(after, limit);
            seen.push(...ids);
            after = ids.at(-1) ?? after;
            const change = changes[turn];
            if (change?.add === true) order.add(change.id);
            else if (change !== undefined) order.remove(change.id);
            if (!more) break;
          }
          const staying = start.filter((one) => !touched.has(one));
          expect(new Set(seen).size).toBe(seen.length);
          expect(staying.filter((one) => !seen.includes(one))).toEqual([]);
        },
      ),
    );
  });
});

test('the configuration reports every problem at once', () => {
  expect(() => readConfig({})).toThrow(ConfigError);
  try {
    readConfig({ PORTCULLIS_RELATIONS: 'none' });
    expect.unreachable();
  } catch (error) {
    const { problems } = error as ConfigError;
    for (const name of [
      'PORTCULLIS_API_URL',
      'PORTCULLIS_DATABASE_URL',
      'PORTCULLIS_ISSUERS_FILE',
      'PORTCULLIS_RELATIONS',
    ]) {
      expect(problems.some((problem) => problem.startsWith(name))).toBe(true);
    }
  }
});
