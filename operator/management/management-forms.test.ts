import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readIfMatch } from '#api/if-match';
import { ConfigError } from '#kit/env/config-error';
import { PolicyOrder } from './caches/policy-order.ts';
import { readConfig } from './config.ts';
import { etagOf } from './http/etag.ts';
import { managementTable, operationNames } from './http/management-table.ts';
import { changeToken, operationOfToken } from './policies/make-policy.ts';

const id = '01900000-0000-7000-8000-000000000001';

test('the ETags of a policy and a model differ, and change with UID and generation', () => {
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

describe('parameters of the table', () => {
  const read = (operation: string, name: string, text: string) =>
    managementTable.operations
      .find((one) => one.name === operation)
      ?.parameters.find((parameter) => parameter.name === name)
      ?.read?.(text);

  test('ids in paths of the management API are UUIDs of version 7 and become lower case', () => {
    expect(read('getPolicy', 'policyId', id.toUpperCase())).toBe(id);
    for (const wrong of ['', 'x', `${id}0`, id.replace('-7', '-4')]) {
      expect([wrong, read('getPolicy', 'policyId', wrong)]).toEqual([wrong, undefined]);
    }
  });

  test('revision parameters of the management API are positive integers without an upper bound', () => {
    for (const right of ['1', '2147483647', '2147483648', '9'.repeat(30)]) {
      expect(read('getRevision', 'revision', right)).toBe(right);
      expect(read('listRevisions', 'beforeRevision', right)).toBe(right);
    }
    for (const wrong of ['', '0', '01', '-1', '1.0', '1e1', 'x']) {
      expect([wrong, read('getRevision', 'revision', wrong)]).toEqual([wrong, undefined]);
    }
  });

  test('every row of the management operations table lists the errors of its gates', () => {
    const { operations, everyError } = managementTable;
    for (const { name, gates, errors, parameters } of operations) {
      const all = [...errors, ...everyError];
      const wanted = [
        ...(gates.includes('body') ? ['unsupported_media_type', 'body_too_large', 'request_timeout'] : []),
        ...(gates.includes('idempotency_key') ? ['idempotency_key_missing', 'idempotency_key_invalid'] : []),
        ...(parameters.some((parameter) => parameter.in === 'path') ? ['invalid_path_id'] : []),
        ...parameters.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
        'invalid_query',
        'unauthenticated',
      ];
      expect([name, wanted.filter((code) => !all.some((listed) => listed === code))]).toEqual([name, []]);
    }
    expect(operations.map(({ name }) => name)).toEqual([...operationNames]);
  });
});

test('the change token of a write of the management API names its operation and generation', () => {
  expect(operationOfToken(changeToken(id, 7))).toEqual({ operationId: id, generation: 7 });
  for (const other of ['', id, `${id}/0`, `${id}/07`, `x/${id}/7`, 'kubectl'])
    expect(operationOfToken(other)).toBeUndefined();
});

describe('the order of policies', () => {
  const hex = fc.integer({ min: 0, max: 400 }).map((number) => number.toString(16).padStart(8, '0'));

  test('a walk through the policies visits each remaining policy once while others are created and deleted', () => {
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
          for (let step = 0; ; step++) {
            const { ids, more } = order.page(after, limit);
            seen.push(...ids);
            after = ids.at(-1) ?? after;
            const change = changes[step];
            if (change?.add === true) order.add(change.id);
            else if (change !== undefined) order.remove(change.id);
            if (!more) break;
          }
          const remaining = start.filter((one) => !touched.has(one));
          expect(new Set(seen).size).toBe(seen.length);
          expect(remaining.filter((one) => !seen.includes(one))).toEqual([]);
        },
      ),
    );
  });
});

test('the configuration of the management API reports all problems together', () => {
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
