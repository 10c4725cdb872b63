import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { ReleasedContract } from '../support/released-contract.ts';

/**
 * SHA-256 of the released document. Changing this value means a new release of the contract; it must not be changed
 * only to make the test pass.
 */
const pinned = '3210f3745188490df25fc8f04283285a70fb82ec8fac89c196d44170a3a29b31';
const released = new ReleasedContract(new URL('./contract/memory-v1.json', import.meta.url));

describe.skipIf(missingPostgres !== undefined)(onPostgres('the OpenAPI document of the memory service'), () => {
  let service: OpenedMemory;
  beforeAll(async () => {
    service = await openMemory();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('the served OpenAPI document keeps every operation and member of the released one', async () => {
    const answer = await fetch(`${service.url}/openapi.json`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(released.broken(await answer.json())).toEqual([]);
  });
});

describe('the released OpenAPI document of the memory service', () => {
  test('the OpenAPI file has the pinned digest', () => {
    expect(released.digest).toBe(pinned);
  });

  test('an OpenAPI document without an operation, a member or a status, or with a stricter request, is refused', () => {
    expect(released.brokenBy(({ paths }) => void delete paths['/v1/memories/search'])).toEqual([
      'POST /v1/memories/search: is gone',
    ]);
    expect(released.brokenBy(({ components }) => void delete components.schemas['Memory']?.properties['hash'])).toEqual(
      ['schema Memory.hash: is gone'],
    );
    expect(
      released.brokenBy(({ paths }) => {
        Reflect.deleteProperty(paths['/v1/memories']?.['post']?.['responses'] as object, '429');
      }),
    ).toEqual(['POST /v1/memories: status 429 is gone']);
    expect(
      released.brokenBy(({ components }) => void components.schemas['AddMemoriesRequest']?.required.push('agent_id')),
    ).toEqual(['schema AddMemoriesRequest.agent_id: is required now']);
  });

  test('an OpenAPI document with one more optional member of a request and of an answer is accepted', () => {
    const found = released.brokenBy(({ components: { schemas } }) => {
      for (const name of ['AddMemoriesRequest', 'Memory']) {
        (schemas[name] as (typeof schemas)[string]).properties['mood'] = { type: 'string' };
      }
    });
    expect(found).toEqual([]);
  });
});
