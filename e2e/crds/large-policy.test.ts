import { describe, expect, test } from 'vitest';
import { makeRevision, makeRevisionContent } from '../../operator/revisions/resources/revision.ts';
import { largePolicy, targetBytes } from './large-policy.ts';
import { collection, item, testNamespace, useTestApi } from './test-api.ts';

describe('a policy of 690 KiB', () => {
  const api = useTestApi();
  const { metadata, spec } = largePolicy('large');
  const head = { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GuardrailPolicy', metadata };
  const apply = (manager: string, object: unknown) =>
    api.kubectl(
      ['apply', '--server-side', `--field-manager=${manager}`, `--namespace=${testNamespace}`, '--filename=-'],
      JSON.stringify(object),
    );

  test('two field managers apply a policy of 690 KiB on the server, each with its own fields', async () => {
    expect(JSON.stringify({ ...head, spec }).length).toBeGreaterThan(targetBytes - 100);
    expect(await apply('rules', { ...head, spec })).toMatchObject({ code: 0, stderr: '' });
    const owned = { ...head, metadata: { ...metadata, labels: { team: 'safety' } }, spec: { change: 'a-token' } };
    expect(await apply('operations', owned)).toMatchObject({ code: 0, stderr: '' });
    expect(await apply('rules', { ...head, spec: { ...spec, displayName: 'Larger' } })).toMatchObject({ code: 0 });

    const { body } = await api.send('GET', item('guardrailpolicies', 'large', ''));
    expect(body.spec).toMatchObject({ displayName: 'Larger', change: 'a-token', definition: spec.definition });
    const managers = body.metadata?.managedFields as readonly {
      readonly manager: string;
      readonly fieldsV1: unknown;
    }[];
    expect(managers.map(({ manager }) => manager)).toEqual(expect.arrayContaining(['rules', 'operations']));
    // Every list is atomic, so that managedFields do not grow with the rules.
    expect(JSON.stringify(managers).length).toBeLessThan(4_096);
  });

  test('a policy of 690 KiB is recorded as a revision', async () => {
    const content = makeRevisionContent({ name: 'large', uid: 'a-uid', generation: 1 }, spec);
    const revision = makeRevision('01990000-0000-7000-8000-00000000000d', 1, content);
    expect(await api.send('POST', collection('policyrevisions'), { body: revision })).toMatchObject({ status: 201 });
  });

  test('an apply that changes a field of another manager is refused with a conflict', async () => {
    const { code, stderr } = await apply('operations', { ...head, spec: { displayName: 'Mine' } });
    expect(code).not.toBe(0);
    expect(stderr).toContain('conflict with "rules": .spec.displayName');
  });

  test('a client-side apply of 690 KiB is refused because its annotation is too long', async () => {
    const object = { ...head, metadata: { name: 'large-by-client' }, spec };
    const { code, stderr } = await api.kubectl(
      ['apply', `--namespace=${testNamespace}`, '--filename=-'],
      JSON.stringify(object),
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain('metadata.annotations: Too long: may not be more than 262144 bytes');
  });
});
