import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { unusedPort } from '#kit/testing/loopback';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy, PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { createResourceWriter } from '../../cli/resources/resource-writer.ts';
import { root } from '../../hack/check/run-tool.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../../operator/testing/objects.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { isPrinted, readBlocks, readCommands } from '../readme/read-blocks.ts';
import { openShell } from '../readme/shell.ts';
import { type KubectlInstallation, openInstallation } from './open-installation.ts';
import { kubectlEnvironment, pluginFor, runKubectl } from './run-plugin.ts';

type Row = Readonly<Record<string, unknown>>;
type Why = {
  readonly state: string;
  readonly summary: string;
  readonly whatToDo?: string;
  readonly cause?: Row;
  readonly serves: string;
  readonly chain: readonly Row[];
};

/** The checkout that the page assumes, without tests of the policy: no workload of this cluster can be called. */
function layOutExamples(folder: string): void {
  mkdirSync(join(folder, 'examples/guarded-chat'), { recursive: true });
  mkdirSync(join(folder, 'cli'));
  symlinkSync(join(root, 'cli/kubectl-portcullis'), join(folder, 'cli/kubectl-portcullis'));
  copyFileSync(join(root, 'examples/guarded-chat/binding.yaml'), join(folder, 'examples/guarded-chat/binding.yaml'));
  const policy = parse(readFileSync(join(root, 'examples/guarded-chat/policy.yaml'), 'utf8'));
  delete policy.spec.tests;
  writeFileSync(join(folder, 'examples/guarded-chat/policy.yaml'), stringify(policy));
}

const wait = ['--wait', '120'] as const;

describe.skipIf(missingApiServer !== undefined)(onApiServer('the plugin of kubectl'), () => {
  let server: ApiServer;
  let place: KubectlInstallation;
  beforeAll(async () => {
    server = await openApiServer({ controllers: true });
    place = await openInstallation(server);
    await place.startOperator();
    await place.startReplica('gateway-1');
  });
  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const run = (...args: readonly string[]) => place.plugin(args);
  const apply = (...objects: readonly object[]) =>
    place.plugin(['apply', '-f', '-', ...wait], objects.map((object) => stringify(object)).join('---\n'));
  const why = (name: string) => place.json<Why>('why', name);
  const settled = (name: string, state: string) =>
    until(`${name} is ${state}`, async () => {
      const found = await why(name);
      return found.state === state ? found : undefined;
    });
  const binding = (name: string) => place.client.get<ModelBinding>(kinds.modelBinding, name);
  const withRevision = (name: string, policy: string, revision?: number) => {
    const object = bindingObject(name);
    const policyRef = { name: policy, ...(revision === undefined ? {} : { revision }) };
    return { ...object, spec: { ...object.spec, guardrail: { mode: 'Policy', policyRef } } };
  };

  test('the plugin applies files, fills in revision and token, shows history and differences, and rolls back', async () => {
    const first = await apply(policyObject('steps'), withRevision('stepping', 'steps'));
    expect(first).toEqual({
      code: 0,
      stdout: 'GuardrailPolicy steps created\nModelBinding stepping created\nModelBinding stepping is applied\n',
      stderr: 'portcullis: warning: policy steps: it has no tests: nothing shows that its rules fire\n',
    });
    expect((await binding('stepping'))?.spec).toMatchObject({
      guardrail: guardedBy(1, 'steps'),
      apply: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((await apply(policyObject('steps', { definition: definitionOf('gateway') }))).stdout).toBe(
      'GuardrailPolicy steps configured\n',
    );
    expect((await run('apply-revision', 'stepping', ...wait)).stdout).toBe(
      'ModelBinding stepping set to revision 2\nModelBinding stepping is applied\n',
    );
    expect(await place.json('history', 'steps')).toMatchObject([
      { revision: 2, guards: ['stepping'] },
      { revision: 1, guards: [] },
    ]);
    const diff = await run('diff', 'steps');
    expect(diff.stdout).toMatch(/^--- steps revision 1\t\S+\n\+\+\+ steps revision 2\t\S+\n@@ /);
    expect(diff.stdout).toContain('\n-            - portal\n+            - gateway\n');
    expect((await run('diff', 'steps', '2', '1')).stdout).toContain(
      '\n-            - gateway\n+            - portal\n',
    );
    expect((await run('diff', 'steps', '2', '2')).stdout).toBe('Revision 2 and revision 2 of steps are equal.\n');
    expect((await run('rollback', 'stepping', ...wait)).stdout).toBe(
      'ModelBinding stepping set to revision 1\nModelBinding stepping is applied\n',
    );
    expect((await run('rollback', 'stepping', '--to', '2', ...wait)).code).toBe(0);
    expect((await run('rollback', 'stepping', '--to-revision', '7')).stderr).toBe(
      'portcullis: The policy steps has no revision 7. The newest one is 2; "kubectl portcullis history steps" lists all.\n',
    );
    expect((await run('apply-revision', 'stepping', '7')).code).toBe(3);
    expect((await binding('stepping'))?.spec.guardrail).toEqual(guardedBy(2, 'steps'));
  });

  test('kubectl portcullis agent switches, promotes and rolls back the versions of agents of this namespace', async () => {
    for (const words of [
      ['agent switch', 'absent', 'absent-1'],
      ['agent promote', 'absent'],
      ['agent rollback', 'absent', '--to', 'absent-1'],
    ]) {
      const end = await run(...words);
      expect([words, end.code, end.stderr]).toEqual([
        words,
        3,
        expect.stringContaining('There is no Agent named absent'),
      ]);
    }
    expect((await run('agent send', 'absent')).code).toBe(2);
  });

  test('kubectl portcullis status shows the leader, replicas, bindings and workloads', async () => {
    await apply(policyObject('standing'), withRevision('stands', 'standing'));
    const status = await place.json<Record<string, Row & readonly Row[]>>('status');
    expect(status['operator']).toMatchObject({ state: 'leading', holder: 'operator-0', lease: 'portcullis-operator' });
    expect(status['gateways']).toContainEqual(
      expect.objectContaining({ replica: 'gateway-1', ready: true, pending: [], rejected: [] }),
    );
    expect(status['gateways']?.[0]?.['loaded']).toContain('stands');
    const row = status['bindings']?.find(({ name }) => name === 'stands');
    expect(row).toMatchObject({
      state: 'applied',
      policy: 'standing',
      revision: 1,
      serves: '1',
      build: 'portcullis:1',
    });
    expect(row).not.toHaveProperty('why');
    expect(status['workloads']).toContainEqual(
      expect.objectContaining({
        name: row?.['workload'],
        state: 'Ready',
        ready: 1,
        replicas: 1,
        build: 'portcullis:1',
      }),
    );
    const { stdout } = await run('status');
    expect(stdout).toMatch(
      /^Operator: operator-0 is the leader and holds the lease portcullis-operator\.\n\nREPLICA +GATEWAY /,
    );
    expect(stdout).toMatch(/\nstands +stands +standing +1 +applied +1 +-\n/);
    expect((await run('status', '-o', 'wide')).stdout).toMatch(/ WORKLOAD +BUILD /);
    expect((await run('status', '-o', 'yaml')).stdout).toMatch(/^namespace: /);
  });

  test('kubectl portcullis history shows the field manager as the author of a change with kubectl', async () => {
    await apply(policyObject('authored'));
    using folder = temporaryFolder();
    const file = join(folder.path, 'policy.yaml');
    writeFileSync(file, stringify(policyObject('authored', { description: 'by kubectl' })));
    const made = await place.client.get(kinds.guardrailPolicy, 'authored');
    // Times of field managers are whole seconds: if two changes are in the same second, their author is not certain.
    const over = Date.parse(made?.metadata.creationTimestamp ?? '') + 1_000;
    await until('the second of the creation is over', () => Date.now() >= over);
    await place.namespace.kubectl('apply', '-f', file);
    const authors = await until('the change of kubectl is recorded', async () => {
      const rows = await place.json<readonly { readonly author: string }[]>('history', 'authored');
      return rows.length === 2 ? rows.map(({ author }) => author) : undefined;
    });
    expect(authors).toEqual(['kubectl-client-side-apply (field manager)', expect.stringMatching(/ \(command line\)$/)]);
  });

  test('kubectl portcullis reapply selects one, all or bindings of another build, and never overwrites a concurrent edit', async () => {
    await apply(policyObject('again'), withRevision('first-again', 'again'), withRevision('second-again', 'again'));
    const tokens = async () =>
      (await Promise.all(['first-again', 'second-again'].map(binding))).map((one) => one?.spec.apply);
    const [one, two] = await tokens();
    expect((await run('reapply', 'first-again', ...wait)).stdout).toBe(
      'ModelBinding first-again set to revision 1\nModelBinding first-again is applied\n',
    );
    const [moved, stayed] = await tokens();
    expect([moved === one, stayed === two]).toEqual([false, true]);
    expect((await run('reapply', '--older-than', 'portcullis:1')).stdout).toBe(
      'Every application runs on the build portcullis:1\n',
    );
    expect(await tokens()).toEqual([moved, stayed]);
    expect((await run('reapply', '--older-than', 'portcullis:2', ...wait)).stdout).toContain(
      'ModelBinding second-again is applied\n',
    );
    expect((await tokens()).includes(moved)).toBe(false);
    const before = await tokens();
    const all = await run('reapply', '--all', ...wait);
    expect(all.stdout).toContain('ModelBinding first-again is applied\n');
    expect((await tokens()).some((token) => before.includes(token))).toBe(false);

    const stale = await binding('first-again');
    await run('reapply', 'first-again');
    const written = await binding('first-again');
    const writer = createResourceWriter(place.client, {});
    const desired = { guardrail: guardedBy(2, 'again') };
    await expect(writer.applyToBinding(stale!, desired)).rejects.toMatchObject({
      exit: 'conflict',
    });
    expect((await binding('first-again'))?.spec).toEqual(written?.spec);
    for (const args of [['reapply'], ['reapply', 'x', '--all'], ['reapply', '--all', '--older-than', 'y']]) {
      expect((await run(...args)).code).toBe(2);
    }
  });

  describe('why', () => {
    beforeAll(async () => {
      await apply(policyObject('reasons'));
    });
    const create = (name: string, change: Parameters<typeof bindingObject>[1]) =>
      place.client.create(kinds.modelBinding, bindingObject(name, change));

    test('kubectl portcullis why shows every step of an applied binding', async () => {
      await apply(withRevision('well', 'reasons'));
      const found = await why('well');
      expect(found).toMatchObject({
        state: 'applied',
        summary: 'ModelBinding well is applied: every ready replica of default serves it with revision 1 of reasons.',
        serves: 'revision 1 of reasons',
      });
      expect(found).not.toHaveProperty('cause');
      expect(found.chain.map(({ part, state }) => [part, state])).toEqual([
        ['Operator', 'well'],
        ['Accepted', 'well'],
        ['References', 'well'],
        ['Policy reasons', 'aside'],
        ['Runtime', 'well'],
        [expect.stringMatching(/^Workload g-/), 'well'],
        ['Route', 'well'],
        ['Replica gateway-1', 'well'],
        ['Applied', 'well'],
        ['Provider', 'aside'],
      ]);
    });

    test('kubectl portcullis why names a missing policy and a missing revision', async () => {
      await create('orphan', { guardrail: guardedBy(1, 'nowhere') });
      await create('ahead', { guardrail: guardedBy(9, 'reasons') });
      const found = await until('the binding has a condition', async () => {
        const one = await why('orphan');
        return one.cause?.['reason'] === 'PolicyNotFound' ? one : undefined;
      });
      expect(found.summary).toBe(
        'ModelBinding orphan is not applied yet: References: The policy nowhere of spec.guardrail does not exist.',
      );
      expect(found.whatToDo).toContain('Apply the policy nowhere');
      const ahead = await until('the binding has a condition', async () => {
        const one = await why('ahead');
        return one.cause?.['reason'] === 'PolicyRevisionUnknown' ? one : undefined;
      });
      expect(ahead.summary).toContain('The policy has no revision 9. The newest one is 1.');
      expect(ahead.whatToDo).toContain('kubectl portcullis history reasons');
      expect(ahead.serves).toBe('nothing: the alias has no route');
    });

    test('kubectl portcullis why names a rule that is too costly, and the revision that keeps serving', async () => {
      const regex = { engine: 're2-1.1.20251105', pattern: '(a|b).{0,1000}(c|d)', caseSensitive: true } as const;
      const rule = { id: 'heavy', kind: 'regex', timeoutMs: 100, action: { type: 'deny' }, regex } as const;
      const definition = definitionOf('x');
      await apply(policyObject('costly'), withRevision('burdened', 'costly'));
      const request = { ...definition.request, baseline: [rule] };
      await apply(policyObject('costly', { definition: { ...definition, request } }));
      const refused = await run('apply-revision', 'burdened', ...wait);
      expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining('(rule_too_costly)') });
      const found = await settled('burdened', 'failed');
      expect(found.cause).toMatchObject({
        part: 'Runtime',
        reason: 'RuleTooCostly',
        message: expect.stringContaining('heavy'),
      });
      expect(found).toMatchObject({ serves: 'revision 1 of costly' });
      expect((await run('why', 'burdened')).stdout).toMatch(
        /^ModelBinding burdened was not applied: Runtime: .+heavy.+\nWhat to do: Make the rule more specific.+\nServed now: revision 1 of costly\.\n(?:Applied by: .+\n)?\n {2}ok +Operator/,
      );
    });

    test('kubectl portcullis why names a replica that has not confirmed and a replica that rejects', async () => {
      const open = ({ metadata }: Stored<GatewayRoute>) => metadata.name;
      place.setAttitude((route) =>
        open(route) === 'slow' ? 'pend' : open(route) === 'wrong' ? { reject: 'wrong digest' } : 'take',
      );
      try {
        await create('slow', { guardrail: guardedBy(1, 'reasons') });
        const slow = await until('the binding waits for the replica', async () => {
          const one = await why('slow');
          return one.cause?.['part'] === 'Replica gateway-1' ? one : undefined;
        });
        expect(slow).toMatchObject({ state: 'pending', cause: { reason: 'WaitingForReplicas' } });
        await create('wrong', { guardrail: guardedBy(1, 'reasons') });
        const rejected = await until('it is rejected', async () => {
          const one = await why('wrong');
          return one.cause?.['reason'] === 'RejectedByReplica' ? one : undefined;
        });
        expect(rejected.summary).toContain('Replica gateway-1: It rejects the route: wrong digest.');
      } finally {
        place.setAttitude(() => 'take');
      }
      await settled('slow', 'applied');
    });

    test('kubectl portcullis why reports a gateway without a replica', async () => {
      await create('lonely', { gateway: 'elsewhere', guardrail: guardedBy(1, 'reasons') });
      const found = await until('the binding waits for a replica', async () => {
        const one = await why('lonely');
        return one.cause?.['reason'] === 'NoReplica' ? one : undefined;
      });
      expect(found.summary).toContain('No replica of the gateway elsewhere is ready');
    });

    test('kubectl portcullis why reports an alias that another binding owns', async () => {
      await apply(withRevision('owner', 'reasons'));
      const model = { alias: 'owner', provider: 'echo', upstreamModel: 'echo', state: 'Enabled' } as const;
      await create('rival', { model, guardrail: guardedBy(1, 'reasons') });
      const found = await settled('rival', 'failed');
      expect(found.cause).toMatchObject({
        part: 'Accepted',
        reason: 'AliasConflict',
        message: expect.stringContaining('owner'),
      });
    });

    test('kubectl portcullis why for an unknown binding exits with not_found', async () => {
      expect(await run('why', 'nobody')).toMatchObject({
        code: 3,
        stderr: `portcullis: There is no ModelBinding named nobody in the namespace ${place.client.namespace}. "kubectl portcullis get modelbindings" lists the names.\n`,
      });
    });
  });

  test('kubectl portcullis test runs the tests of a policy with the providers and limits of the installation', async () => {
    const check = (name: string, content: string, expected: PolicyTest['expect']): PolicyTest => {
      return { name, stage: 'request', messages: [{ role: 'user', content }], expect: expected };
    };
    const tests: PolicyTest[] = [check('good', 'hello', 'Pass'), check('bad', 'the portal', 'Reject')];
    await apply(policyObject('tried', { tests }));
    expect((await run('test', 'tried')).stderr).toContain('give --providers and --limits');
    const labels = { 'app.kubernetes.io/part-of': 'portcullis', 'app.kubernetes.io/component': 'operator' };
    const data = { 'providers.yaml': 'providers: []\n', 'limits.yaml': '{}\n' };
    await place.client.create(builtinKinds.configMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'environment', labels },
      data,
    } as never);
    expect(await run('test', 'tried')).toEqual({
      code: 0,
      stdout: 'passed  good: Pass\npassed  bad: Reject by forbidden\n2 of 2 tests passed\n',
      stderr: '',
    });
    await apply(policyObject('tried', { tests: [check('good', 'the portal', 'Pass')] }));
    expect(await run('test', 'tried')).toMatchObject({
      code: 5,
      stderr:
        'portcullis: GuardrailPolicy tried: 1 of 1 tests failed: policy tried, spec.tests[0] (good): ' +
        'expected Pass, got Reject by the rule forbidden. Correct the rule, or "expect" of the test.\n',
    });
    expect((await run('test', 'tried', '--revision', '1')).code).toBe(0);
    expect((await run('test', '-f', 'examples/guarded-chat/policy.yaml')).stdout).toContain('11 of 11 tests passed');
    expect((await run('test', 'tried', '-f', 'x')).code).toBe(2);
  });

  describe('errors', () => {
    test.each([
      [['--context', 'nowhere'], 2, /there is no context 'nowhere'/],
      [['--kubeconfig', '/no/such/file'], 2, /\/no\/such\/file is missing or is not a valid kubeconfig/],
      [['--request-timeout', '0'], 2, /whole number of seconds from 1 to 9999/],
    ] as const)('kubectl portcullis status %j ends with one sentence', async (args, code, sentence) => {
      const end = await run('status', ...args);
      expect(end.stderr).toMatch(sentence);
      expect({ code: end.code, stdout: end.stdout }).toEqual({ code, stdout: '' });
    });

    test('kubectl portcullis status names a missing right and shows the part that a reader may read', async () => {
      const { controlPlane } = server;
      const { namespace } = place.client;
      const stranger = pluginFor(controlPlane.kubeconfigFor('stranger'), namespace);
      const denied = await stranger(['status', '-o', 'json']);
      expect(denied.code).toBe(9);
      expect(JSON.parse(denied.stderr)).toEqual({
        error: { code: 'refused', message: expect.stringMatching(/cannot list resource.*portcullis-viewer/) },
      });
      const roles = ['crds/roles/portcullis-viewer.yaml'];
      for (const role of roles) await server.kubectl('apply', '-f', role);
      await place.namespace.kubectl(
        'create',
        'rolebinding',
        'reader',
        '--clusterrole=portcullis-viewer',
        '--user=reader',
      );
      const reader = pluginFor(controlPlane.kubeconfigFor('reader'), namespace);
      const { stdout } = await reader(['status']);
      expect(stdout).toContain('Operator: unknown, because you are not allowed to read leases.');
      expect(stdout).toMatch(/\ngateway-1 +default +yes /);
      expect((await reader(['why', 'stepping'])).code).toBe(0);
      expect(await reader(['reapply', 'stepping'])).toMatchObject({
        code: 9,
        stderr: expect.stringContaining('cannot patch'),
      });
    });

    test('the plugin distinguishes an empty namespace, a server without the definitions and an unreachable server in its messages', async () => {
      const empty = await run('status', '--namespace', 'default');
      expect(empty).toMatchObject({ code: 3, stdout: '' });
      expect(empty.stderr).toBe(
        'portcullis: Portcullis is not installed in the namespace default. Choose the namespace of the installation with -n NAMESPACE.\n',
      );
      using folder = temporaryFolder();
      const changed = async (change: string, ...words: readonly string[]): Promise<ProgramEnd> => {
        const file = join(folder.path, 'kubeconfig');
        const text = readFileSync(server.controlPlane.kubeconfigFile, 'utf8');
        writeFileSync(file, text.replace(server.controlPlane.url, change));
        return run(...(words.length === 0 ? ['status'] : words), '--kubeconfig', file, '--request-timeout', '3s');
      };
      const unknown = await changed(`${server.controlPlane.url}/elsewhere`);
      expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('install the chart first') });
      const unused = `https://127.0.0.1:${await unusedPort()}`;
      for (const words of [[], ['get', 'mb'], ['rollback', 'stepping'], ['logs']]) {
        const silent = await changed(unused, ...words);
        const sentence = 'The API server does not answer: no program accepts connections at';
        expect([words, silent]).toMatchObject([words, { code: 4, stderr: expect.stringContaining(sentence) }]);
      }
    });
  });

  test('kubectl finds the plugin and completes names', async () => {
    const { kubeconfigFile } = server.controlPlane;
    const inNamespace = ['-n', place.client.namespace];
    const status = await runKubectl(kubeconfigFile, ['portcullis', 'status', ...inNamespace]);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('operator-0 is the leader') });
    const complete = async (...words: readonly string[]) =>
      (await runKubectl(kubeconfigFile, ['__complete', 'portcullis', ...words])).stdout
        .split('\n')
        .filter((line) => line !== '');
    expect(await complete('apply-r')).toEqual(['apply-revision', ':4']);
    expect(await complete('why', ...inNamespace, 'step')).toEqual(['stepping', ':4']);
    expect(await complete('diff', ...inNamespace, 'steps', '')).toEqual(['2', '1', ':4']);
    expect(await complete('status', '-o', '')).toEqual(['json', 'yaml', 'wide', 'jsonpath=', ':4']);
    expect(await complete('get', '-o', '')).toEqual(['json', 'yaml', 'wide', 'name', 'jsonpath=', ':4']);
  });

  test('the commands of docs/kubectl-plugin.md print the documented output', async () => {
    await using own = await openInstallation(server);
    await own.startOperator();
    await own.startReplica('gateway-1');
    using folder = temporaryFolder();
    layOutExamples(folder.path);
    const examples = ['policy', 'binding'].flatMap((name) => [
      '-f',
      join(folder.path, `examples/guarded-chat/${name}.yaml`),
    ]);
    await own.namespace.kubectl('apply', '--server-side', ...examples);
    await until('it is applied', async () => (await own.json<Why>('why', 'guarded-echo')).state === 'applied');
    const kubeconfig = join(folder.path, 'kubeconfig');
    copyFileSync(server.controlPlane.kubeconfigFile, kubeconfig);
    await runKubectl(kubeconfig, ['config', 'set-context', '--current', `--namespace=${own.client.namespace}`]);
    await using shell = openShell(folder.path, await kubectlEnvironment(kubeconfig));
    const page = readFileSync(join(root, 'docs/kubectl-plugin.md'), 'utf8');
    const commands = readBlocks(page)
      .filter(({ label }) => label === 'console kubectl')
      .flatMap(readCommands);
    expect(commands.length).toBeGreaterThanOrEqual(9);
    for (const { line, command, output } of commands) {
      const given = await shell.type(command);
      expect(isPrinted(output, given), `line ${line}: ${command}\nprinted:\n${output}\ngiven:\n${given}`).toBe(true);
    }
  });

  test('kubectl portcullis why names a missing leader as the cause of open steps only', async () => {
    await place.stopOperator();
    const open = policyObject('reasons');
    await place.client.create<GuardrailPolicy>(kinds.guardrailPolicy, { ...open, metadata: { name: 'unseen' } });
    await place.client.create(kinds.modelBinding, bindingObject('waiting', { guardrail: guardedBy(1, 'unseen') }));
    expect(await why('waiting')).toMatchObject({
      state: 'pending',
      summary:
        'ModelBinding waiting is not applied yet: Operator: No operator is the leader: the lease portcullis-operator has no holder.',
      whatToDo: 'Start the operator. If it ends again, see its log.',
    });
    expect(await why('stepping')).not.toHaveProperty('cause');
    expect(await why('rival')).toMatchObject({ cause: { reason: 'AliasConflict' } });
    expect((await run('status')).stdout).toMatch(/^Operator: no operator is the leader: /m);
    const killed = { holderIdentity: 'killed_1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
    await place.client.patch(builtinKinds.lease, 'portcullis-operator', [{ op: 'add', path: '/spec', value: killed }]);
    expect((await why('waiting')).summary).toContain(
      'killed has not renewed the lease portcullis-operator since 2026-01-01T00:00:00.000000Z.',
    );
    expect(await run('reapply', 'waiting', '--wait', '1')).toMatchObject({ code: 12 });
  });
});
