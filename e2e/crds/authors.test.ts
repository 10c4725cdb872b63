import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { purgedSpec } from '#resources/purged-revision';
import { root } from '../../hack/check/run-tool.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import { fullObjects } from './full-objects.ts';
import { largePolicy } from './large-policy.ts';
import { type ApiServerResponse, collection, item, testNamespace, useTestApi } from './test-api.ts';

const writtenBy = 'portcullis.dev/written-by';
const appliedBy = 'portcullis.dev/applied-by';
const inNamespace = `--namespace=${testNamespace}`;
const users = ['alice', 'bob'] as const;
type User = (typeof users)[number];

/** A service account that holds these verbs on policies, and may write. */
const accounts = {
  process: { namespace: testNamespace, verbs: ['state-author'] },
  'with-every-right': { namespace: testNamespace, verbs: ['*'] },
  plain: { namespace: testNamespace, verbs: [] },
  foreign: { namespace: `${testNamespace}-foreign`, verbs: ['state-author'] },
} as const;

type Sent = {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
};

describe('the users whom the API server names', () => {
  // The rules are of the whole cluster, so that this file has its own server.
  const api = useTestApi([]);
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    if (missingApiServer !== undefined) return;
    await api.kubectlOk(['apply', '--server-side', `--filename=${join(root, 'crds', 'authors')}`]);
    await api.kubectlOk(['create', 'namespace', accounts.foreign.namespace]);
    const role = '--clusterrole=portcullis-admin';
    for (const user of users) await api.kubectlOk(['create', 'rolebinding', user, role, `--user=${user}`, inNamespace]);
    for (const [name, { namespace, verbs }] of Object.entries(accounts)) {
      await api.kubectlOk(['create', 'serviceaccount', name, `--namespace=${namespace}`]);
      const account = `--serviceaccount=${namespace}:${name}`;
      await api.kubectlOk(['create', 'rolebinding', `${name}-writes`, role, account, inNamespace]);
      if (verbs.length > 0) {
        const rights = [`--verb=${verbs.join()}`, '--resource=guardrailpolicies.portcullis.dev'];
        await api.kubectlOk(['create', 'role', `${name}-more`, ...rights, inNamespace]);
        await api.kubectlOk(['create', 'rolebinding', `${name}-more`, `--role=${name}-more`, account, inNamespace]);
      }
      tokens.set(name, await api.kubectlOk(['create', 'token', name, `--namespace=${namespace}`]));
    }
    await until('the rules are in force', async () => {
      const { body } = await api.send('POST', collection('modelbindings', 'dryRun=All'), { body: binding('probe') });
      return appliedBy in annotationsOf(body) && writtenBy in annotationsOf(body);
    });
  });
  beforeEach((context) => {
    if (missingApiServer !== undefined) context.skip(missingApiServer);
  });

  const { apiVersion, kind, spec: full } = fullObjects.modelBinding;
  const binding = (name: string, { annotations, spec }: Sent = {}) => ({
    apiVersion,
    kind,
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...full, ...spec },
  });
  const annotationsOf = (object: object): Readonly<Record<string, string>> =>
    (object as { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } }).metadata
      ?.annotations ?? {};
  const kubectlAs = (user: User, args: readonly string[], input = ''): Promise<string> =>
    api.kubectlOk([...args, `--as=${user}`, inNamespace], input);
  const read = async (name: string, kind = 'modelbinding') =>
    JSON.parse(await api.kubectlOk(['get', kind, name, '--output=json', inNamespace]));
  const authorsOf = async (name: string) => {
    const annotations = annotationsOf(await read(name));
    return [annotations[writtenBy], annotations[appliedBy]];
  };
  const create = (user: User, name: string, sent: Sent = {}) =>
    kubectlAs(user, ['create', '--filename=-'], JSON.stringify(binding(name, sent)));
  const patch = (user: User, name: string, change: object, ...more: readonly string[]) =>
    kubectlAs(user, ['patch', 'modelbinding', name, '--type=merge', `--patch=${JSON.stringify(change)}`, ...more]);
  const patchAs = (account: string, name: string, change: object): Promise<ApiServerResponse> =>
    api.send('PATCH', item('modelbindings', name), {
      body: change,
      contentType: 'application/merge-patch+json',
      token: tokens.get(account) ?? '',
    });
  const forged = { [writtenBy]: 'mallory', [appliedBy]: 'mallory' };

  test.each([
    ['guardrailPolicy', { ...fullObjects.guardrailPolicy.spec, description: 'changed' }],
    ['policyRevision', purgedSpec(fullObjects.policyRevision.spec, '2026-01-31T12:00:00Z')],
    ['modelBinding', { ...full, replicas: 3 }],
    ['agent', { ...fullObjects.agent.spec, version: 'other' }],
  ] as const)(
    'the user who creates or changes the spec of a %s is named, whatever the object states',
    async (key, changed) => {
      const { status: _status, ...object } = { status: undefined, ...fullObjects[key] };
      const body = {
        ...object,
        metadata: { ...object.metadata, name: 'named', annotations: { kept: 'x', ...forged } },
      };
      const named = async () => annotationsOf(await read('named', kinds[key].plural));
      await kubectlAs('alice', ['create', '--filename=-'], JSON.stringify(body));
      expect(await named()).toMatchObject({ kept: 'x', [writtenBy]: 'alice' });
      await kubectlAs('bob', ['replace', '--filename=-'], JSON.stringify({ ...body, spec: changed }));
      expect(await named()).toMatchObject({ kept: 'x', [writtenBy]: 'bob' });
    },
  );

  test('the user who writes a policy of 690 KiB is named', async () => {
    const { metadata, ...large } = largePolicy('large-of-a-user');
    const annotated = { ...large, metadata: { ...metadata, annotations: forged } };
    const apply = ['apply', '--server-side', '--filename=-'];
    await kubectlAs('alice', apply, JSON.stringify(annotated));
    await kubectlAs('alice', apply, JSON.stringify({ ...annotated, spec: { ...large.spec, description: 'changed' } }));
    expect(annotationsOf(await read('large-of-a-user', 'guardrailpolicy'))).toMatchObject({ [writtenBy]: 'alice' });
  });

  test('an object without annotations gets them, and a dry run shows them and stores nothing', async () => {
    const shown = await kubectlAs(
      'alice',
      ['create', '--filename=-', '--dry-run=server', '--output=json'],
      JSON.stringify(binding('plain-object')),
    );
    expect(annotationsOf(JSON.parse(shown))).toEqual({ [writtenBy]: 'alice', [appliedBy]: 'alice' });
    expect((await api.kubectl(['get', 'modelbinding', 'plain-object', inNamespace])).code).not.toBe(0);
    await create('alice', 'plain-object');
    expect(await authorsOf('plain-object')).toEqual(['alice', 'alice']);
    await patch('bob', 'plain-object', { spec: { replicas: 4 } }, '--dry-run=server');
    expect(await authorsOf('plain-object')).toEqual(['alice', 'alice']);
  });

  test('a user who requests no application is named as the writer only', async () => {
    await create('alice', 'two-authors', { spec: { apply: 'one' } });
    await patch('bob', 'two-authors', { spec: { replicas: 5 } });
    expect(await authorsOf('two-authors')).toEqual(['bob', 'alice']);
    await patch('bob', 'two-authors', { spec: { apply: 'two' } });
    expect(await authorsOf('two-authors')).toEqual(['bob', 'bob']);
    await patch('alice', 'two-authors', { spec: { apply: null } });
    expect(await authorsOf('two-authors')).toEqual(['alice', 'alice']);
  });

  test('no user can forge, change or remove the names in a write that leaves the spec unchanged', async () => {
    await create('alice', 'forged');
    const keeps = async () => expect(await authorsOf('forged')).toEqual(['alice', 'alice']);
    await patch('bob', 'forged', { metadata: { annotations: forged, labels: { seen: 'yes' } } });
    await keeps();
    await patch('bob', 'forged', { metadata: { annotations: { [writtenBy]: null, [appliedBy]: null } } });
    await keeps();
    await patch('bob', 'forged', { metadata: { annotations: null } });
    await keeps();
    await kubectlAs('bob', ['annotate', 'modelbinding', 'forged', `${writtenBy}=mallory`, '--overwrite']);
    await keeps();
    const ofStatus = await api.send('PATCH', item('modelbindings', 'forged/status'), {
      body: { metadata: { annotations: forged }, status: { observedGeneration: 1 } },
      contentType: 'application/merge-patch+json',
    });
    expect(ofStatus.status).toBe(200);
    await keeps();
    const { metadata, ...object } = await read('forged');
    const { annotations: _annotations, ...bare } = metadata;
    await kubectlAs('bob', ['replace', '--filename=-'], JSON.stringify({ ...object, metadata: bare }));
    await keeps();
  });

  test('repeated applies, of the client and of the server, by two users conflict on no name and change nothing', async () => {
    const manifest = (name: string) => JSON.stringify(binding(name));
    const versionOf = async (name: string) => (await read(name)).metadata.resourceVersion;
    await kubectlAs('alice', ['apply', '--filename=-'], manifest('by-client'));
    const before = await versionOf('by-client');
    expect(await kubectlAs('bob', ['apply', '--filename=-'], manifest('by-client'))).toContain('unchanged');
    expect(await versionOf('by-client')).toBe(before);
    expect(await authorsOf('by-client')).toEqual(['alice', 'alice']);

    const server = (user: User, spec: object = {}) =>
      kubectlAs(
        user,
        ['apply', '--server-side', `--field-manager=${user}`, '--filename=-'],
        JSON.stringify(binding('by-server', { spec })),
      );
    await server('alice');
    const first = await versionOf('by-server');
    await server('alice');
    expect(await versionOf('by-server')).toBe(first);
    await server('bob');
    expect(await authorsOf('by-server')).toEqual(['alice', 'alice']);
    const owners = JSON.stringify((await read('by-server')).metadata.managedFields ?? []);
    expect(owners).not.toContain(writtenBy);
    await api.kubectlOk(
      ['apply', '--server-side', '--field-manager=bob', '--force-conflicts', '--as=bob', inNamespace, '--filename=-'],
      JSON.stringify(binding('by-server', { spec: { replicas: 6 } })),
    );
    expect(await authorsOf('by-server')).toEqual(['bob', 'alice']);
  });

  test('a manifest that states a name is applied again without a conflict, and never has its way', async () => {
    const manifest = JSON.stringify(binding('stated', { annotations: forged }));
    for (const user of users) {
      const forced = ['apply', '--server-side', '--force-conflicts', `--field-manager=${user}`, '--filename=-'];
      for (const args of [['apply', '--filename=-'], forced]) {
        await kubectlAs(user, args, manifest);
        expect(await authorsOf('stated')).toEqual(['alice', 'alice']);
      }
    }
  });

  test('a process of Portcullis is not named: its changes of the spec remove the names, its other writes keep them', async () => {
    await create('alice', 'of-a-process');
    expect((await patchAs('process', 'of-a-process', { metadata: { finalizers: [] } })).status).toBe(200);
    expect(await authorsOf('of-a-process')).toEqual(['alice', 'alice']);
    expect((await patchAs('process', 'of-a-process', { spec: { apply: 'by-process' } })).status).toBe(200);
    expect(await authorsOf('of-a-process')).toEqual([undefined, undefined]);
    await patch('bob', 'of-a-process', { spec: { replicas: 7 } });
    expect(await authorsOf('of-a-process')).toEqual(['bob', undefined]);
    const body = binding('of-a-process-2', { annotations: forged });
    const made = await api.send('POST', collection('modelbindings'), { body, token: tokens.get('process') ?? '' });
    expect([made.status, annotationsOf(made.body)]).toEqual([201, {}]);
  });

  test.each([
    ['without the right to state authors', 'plain'],
    ['with every right', 'with-every-right'],
    ['of another namespace', 'foreign'],
  ] as const)('a service account %s is named', async (_title, account) => {
    await create('alice', `by-${account}`);
    expect((await patchAs(account, `by-${account}`, { spec: { replicas: 8 } })).status).toBe(200);
    const name = `system:serviceaccount:${accounts[account].namespace}:${account}`;
    expect(await authorsOf(`by-${account}`)).toEqual([name, 'alice']);
  });

  test.each([
    ['without a spec', { spec: undefined }, 'spec'],
    ['with a spec that is a text', { spec: 'text' }, 'spec'],
    ['without a guardrail', { spec: { ...full, guardrail: undefined } }, 'spec.guardrail'],
  ])('an object %s is refused with the message of its schema', async (_title, change, field) => {
    const body = { ...binding('invalid'), ...change };
    const { status, body: answer } = await api.send('POST', collection('modelbindings', ''), { body });
    expect(status).toBe(422);
    expect(answer.message).toContain(field);
    expect(answer.message).not.toContain('applied-by');
  });
});
