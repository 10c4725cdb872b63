import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedRetrieval, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { ReleasedContract } from '../support/released-contract.ts';

/**
 * SHA-256 of the released document. Changing this value means a new release of the contract; it must not be changed
 * only to make the test pass.
 */
const pinned = '94d4972f1ab3ca7c60532d540ad16c592063dd2393a0ea039e70e6289ed7d11a';
const released = new ReleasedContract(new URL('./contract/retrieval-v1.json', import.meta.url));

describe.skipIf(missingPostgres !== undefined)(onPostgres('the OpenAPI document of the retrieval service'), () => {
  let service: OpenedRetrieval;
  beforeAll(async () => {
    service = await openRetrieval();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('the served OpenAPI document keeps every operation and member of the released one', async () => {
    const answer = await fetch(`${service.url}/openapi.json`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(released.broken(await answer.json())).toEqual([]);
  });
});

describe('the released OpenAPI document of the retrieval service', () => {
  test('the OpenAPI file has the pinned digest', () => {
    expect(released.digest).toBe(pinned);
  });

  test('an OpenAPI document without an operation, a member or a status, or with a stricter request, is refused', () => {
    expect(released.brokenBy(({ paths }) => void delete paths['/v1/query'])).toEqual(['POST /v1/query: is gone']);
    expect(
      released.brokenBy(({ components }) => void delete components.schemas['IngestJob']?.properties['status']),
    ).toEqual(['schema IngestJob.status: is gone']);
    expect(
      released.brokenBy(({ paths }) => {
        Reflect.deleteProperty(paths['/v1/query']?.['post']?.['responses'] as object, '503');
      }),
    ).toEqual(['POST /v1/query: status 503 is gone']);
    expect(
      released.brokenBy(({ components }) => void components.schemas['QueryRequest']?.required.push('mode')),
    ).toEqual(['schema QueryRequest.mode: is required now']);
  });

  test('an OpenAPI document with one more optional member of a request and of an answer is accepted', () => {
    const found = released.brokenBy(({ components: { schemas } }) => {
      for (const name of ['QueryRequest', 'IngestJob']) {
        (schemas[name] as (typeof schemas)[string]).properties['mood'] = { type: 'string' };
      }
    });
    expect(found).toEqual([]);
  });
});
