import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDocument, stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { kubectl, kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { type ControlPlane, startControlPlane } from '../../hack/cluster/life/start-control-plane.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import { runSourceFile } from './run-source-file.ts';
import { chartFolder, helm, helmOk, missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, renderChart, renderFile, servesAuthors, valuesFiles, valuesPath } from './tools/render-chart.ts';

const missing = missingHelm ?? missingApiServer;
const name = 'guardrails';
const namespace = 'safety';

/** Definitions of the Prometheus operator and of the Gateway API, without their schemas. */
const foreignKinds = [
  ['monitoring.coreos.com', 'ServiceMonitor'],
  ['monitoring.coreos.com', 'PodMonitor'],
  ['monitoring.coreos.com', 'PrometheusRule'],
  ['gateway.networking.k8s.io', 'HTTPRoute'],
].map(([group = '', kind = '']) => {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // The API server admits definitions in its own groups only if they refer to their approval.
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
});

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'example.com/nobody',
};

describe('a release', () => {
  skipWithout(missing);
  let server: ControlPlane;
  const admin = (...args: readonly string[]): Promise<string> => kubectlOk(server.kubeconfigFile, args);
  const within = (...args: readonly string[]): Promise<string> => admin(`--namespace=${namespace}`, ...args);
  const run = (...args: readonly string[]) => helm(args, server.kubeconfigFile);
  const runOk = (...args: readonly string[]) => helmOk(args, server.kubeconfigFile);
  /** No kubelet runs pods in this cluster, so that Helm must wait neither for hooks nor for workloads. */
  const install = (release: string, place: string, ...args: readonly string[]) =>
    run('install', release, chartFolder, `--namespace=${place}`, '--no-hooks', ...args);
  const secretsOf = (place = namespace) =>
    admin(
      `--namespace=${place}`,
      'get',
      'secrets',
      '--selector=app.kubernetes.io/part-of=portcullis',
      '--output=jsonpath={range .items[*]}{.metadata.name}={.data}{"\\n"}{end}',
    );

  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await startControlPlane();
    await kubectlOk(
      server.kubeconfigFile,
      ['apply', '--server-side', '--filename=-'],
      stringify({ apiVersion: 'v1', kind: 'List', items: foreignKinds }),
    );
    await kubectlOk(server.kubeconfigFile, ['apply', '--filename=-'], stringify(storageClass));
    for (const place of [namespace, 'second', 'third']) {
      await admin('create', 'namespace', place);
      // The controller that creates it does not run.
      await admin(`--namespace=${place}`, 'create', 'serviceaccount', 'default');
      await admin('label', 'namespace', place, 'pod-security.kubernetes.io/warn=restricted');
    }
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test.each(valuesFiles)(
    'the API server accepts every object of %s under strict validation, with restricted pods',
    async (file) => {
      const objects = await renderFile(file);
      const list = stringify({ apiVersion: 'v1', kind: 'List', items: objects }, { aliasDuplicateObjects: false });
      const args = [
        'apply',
        '--server-side',
        '--dry-run=server',
        '--validate=strict',
        `--namespace=${namespace}`,
        '--filename=-',
      ];
      const { code, stdout, stderr } = await kubectl(server.kubeconfigFile, args, list);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.trim().split('\n')).toHaveLength(objects.length);
    },
  );

  test('the API server warns about pods that are not restricted', async () => {
    const [deployment] = ofKind(await renderFile('default-values.yaml'), 'Deployment');
    const text = stringify(deployment).replace('runAsNonRoot: true', 'runAsNonRoot: false');
    const args = ['apply', '--server-side', '--dry-run=server', `--namespace=${namespace}`, '--filename=-'];
    expect((await kubectl(server.kubeconfigFile, args, text)).stderr).toMatch(/would violate PodSecurity "restricted/);
  });

  test('a Helm release is installed, upgraded, rolled back, uninstalled and installed again; a second release is refused', async () => {
    // Simulates a hook that runs before the definitions are established.
    const rights = (await renderChart(['--show-only=templates/example/rbac.yaml'])).map((object) => stringify(object));
    await kubectlOk(server.kubeconfigFile, ['apply', `--namespace=${namespace}`, '--filename=-'], rights.join('---\n'));
    using folder = temporaryFolder();
    const tokenFile = join(folder.path, 'token');
    writeFileSync(tokenFile, await within('create', 'token', `${name}-portcullis-example`));
    const applyExample = () =>
      runSourceFile('cli/cluster/apply-examples.ts', {
        PORTCULLIS_API_URL: server.url,
        PORTCULLIS_API_TOKEN_FILE: tokenFile,
        PORTCULLIS_API_CA_FILE: server.caFile,
        PORTCULLIS_NAMESPACE: namespace,
      });
    const early = applyExample();
    expect(await install(name, namespace)).toMatchObject({ code: 0 });
    expect(await early).toMatchObject({
      code: 0,
      stdout: 'GuardrailPolicy guarded-chat created\nModelBinding guarded-echo created\n',
    });
    expect(await applyExample()).toMatchObject({
      code: 0,
      stdout: 'GuardrailPolicy guarded-chat already exists\nModelBinding guarded-echo already exists\n',
    });
    const secrets = await secretsOf();
    expect(secrets.trim().split('\n')).toHaveLength(4);
    const shown = ['--output=go-template={{.data.clients | base64decode}}'];
    expect(await within('get', 'secret', `${name}-portcullis-client-keys`, ...shown)).toMatch(
      /^[A-Za-z0-9]{43} first\n$/,
    );

    const inOne = await install('other', namespace, '--values', valuesPath('second-release-values.yaml'));
    expect(inOne.code).not.toBe(0);
    expect(inOne.stderr).toMatch(/the release guardrails is an installation of Portcullis in the namespace safety/);
    const taken = await install('other', 'second');
    expect(taken.code).not.toBe(0);
    expect(taken.stderr).toMatch(/invalid ownership metadata/);
    const second = await install('other', 'second', '--values', valuesPath('second-release-values.yaml'));
    expect(second).toMatchObject({ code: 0 });
    expect(await secretsOf('second')).not.toContain(secrets.split('{')[1]);

    const levels = () =>
      within(
        'get',
        'deployment',
        `${name}-portcullis-gateway`,
        '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="PORTCULLIS_LOG_LEVEL")].value}',
      );
    const change = ['upgrade', name, chartFolder, `--namespace=${namespace}`, '--no-hooks'];
    await runOk(...change, '--set=gateway.logLevel=debug', '--set=runtime.resources.limits.memory=600Mi');
    expect(await levels()).toBe('debug');
    expect(await secretsOf()).toBe(secrets);
    expect(await within('get', 'configmap', `${name}-portcullis-environment`, '--output=jsonpath={.data}')).toContain(
      '600Mi',
    );
    await runOk('rollback', name, '1', `--namespace=${namespace}`, '--no-hooks');
    expect(await levels()).toBe('info');
    expect(await secretsOf()).toBe(secrets);
    const wrong = await run(...change, '--set=gateway.logLevel=loud');
    expect(wrong.code).not.toBe(0);
    expect(await levels()).toBe('info');

    await runOk('uninstall', name, `--namespace=${namespace}`, '--no-hooks');
    expect(await within('get', 'deployments,services,networkpolicies,poddisruptionbudgets', '--output=name')).toBe('');
    expect(await within('get', 'guardrailpolicies,modelbindings', '--output=name')).toBe(
      'guardrailpolicy.portcullis.dev/guarded-chat\nmodelbinding.portcullis.dev/guarded-echo\n',
    );
    const ofCluster = [
      [
        'customresourcedefinitions,clusterroles,validatingadmissionpolicies,validatingadmissionpolicybindings',
        'mutatingadmissionpolicies,mutatingadmissionpolicybindings',
      ].join(),
    ];
    const kept = (await admin('get', ...ofCluster, '--selector=app.kubernetes.io/part-of=portcullis', '--output=name'))
      .trim()
      .split('\n');
    const rendered = (await renderChart(['--values', valuesPath('default-values.yaml'), servesAuthors])).filter(
      ({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep',
    );
    // The Secrets of the workload token and the database password are missing on purpose.
    expect(kept).toHaveLength(rendered.length - 2);
    const left = (await secretsOf()).trim().split('\n');
    expect(left.map((line) => line.split('=')[0])).toEqual([
      `${name}-portcullis-postgres`,
      `${name}-portcullis-runtime-token`,
    ]);
    for (const line of left) expect(secrets).toContain(line);

    // A new installation reuses definitions, policies, the token of running workloads and the database password.
    expect(await install(name, namespace)).toMatchObject({ code: 0 });
    for (const line of left) expect(await secretsOf()).toContain(line);
    expect(await within('get', 'guardrailpolicies,modelbindings', '--output=name')).toContain('guarded-chat');
  });

  test('a release whose example job fails stays installed and can be upgraded', async () => {
    const values = ['--namespace=third', '--values', valuesPath('second-release-values.yaml')];
    // No kubelet runs the job in this cluster.
    const { code, stderr } = await run('install', 'third', chartFolder, ...values, '--timeout=3s');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/post-install/);
    expect(await admin('--namespace=third', 'get', 'deployments', '--output=name')).toContain('guard-gateway');
    await runOk('upgrade', 'third', chartFolder, ...values);
    expect(await runOk('status', 'third', '--namespace=third')).toMatch(/STATUS: deployed/);
  });

  test('an installation without a default storage class is refused until a class is named', async () => {
    const mark = (value: string) =>
      admin(
        'annotate',
        'storageclass',
        'standard',
        `storageclass.kubernetes.io/is-default-class=${value}`,
        '--overwrite',
      );
    const dry = (...args: readonly string[]) =>
      run('install', 'fourth', chartFolder, '--namespace=third', '--dry-run=server', ...args);
    const others = ['crds', 'admissionPolicies', 'userRoles'].map((one) => `--set=${one}.install=false`);
    const sentence =
      /no default StorageClass\. Set postgresql\.storage\.storageClassName, or set postgresql\.persistence=none/;
    // The previous test left its release in this namespace.
    await runOk('uninstall', 'third', '--namespace=third', '--no-hooks');
    expect(await dry(...others)).toMatchObject({ code: 0 });
    await mark('false');
    try {
      expect((await dry(...others)).stderr).toMatch(sentence);
      for (const way of [
        '--set=postgresql.storage.storageClassName=standard',
        '--set=postgresql.persistence=none',
        '--set=management.enabled=false',
      ]) {
        expect(await dry(...others, way), way).toMatchObject({ code: 0 });
      }
      expect(await run('template', 'fourth', chartFolder)).toMatchObject({ code: 0 });
      // An existing StatefulSet or claim needs no default class; a claim is bound by its name.
      expect(await run('upgrade', name, chartFolder, `--namespace=${namespace}`, '--dry-run=server')).toMatchObject({
        code: 0,
      });
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data-fourth-portcullis-postgres-0' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '4Gi' } } },
      };
      await kubectlOk(server.kubeconfigFile, ['apply', '--namespace=third', '--filename=-'], stringify(claim));
      expect(await dry(...others)).toMatchObject({ code: 0 });
    } finally {
      await mark('true');
    }
  });

  test('an upgrade that changes the storage of the database is refused', async () => {
    const upgrade = (...args: readonly string[]) =>
      run('upgrade', name, chartFolder, `--namespace=${namespace}`, '--dry-run=server', ...args);
    const { code, stderr } = await upgrade('--set=postgresql.persistence=none');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /postgresql\.persistence is claim and cannot be changed: to change it, delete the StatefulSet/,
    );
    expect(await upgrade('--set=postgresql.persistence=claim')).toMatchObject({ code: 0 });
  });

  test('an upgrade that changes the name of the gateway, which bindings refer to, is refused', async () => {
    const upgrade = (...args: readonly string[]) =>
      run('upgrade', name, chartFolder, `--namespace=${namespace}`, '--dry-run=server', ...args);
    const { code, stderr } = await upgrade('--set=gateway.name=other');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /gateway\.name is default and cannot be changed: .* set spec\.gateway of the bindings, each with its confirmation, and delete the Deployment guardrails-portcullis-gateway first; the models are not served until the upgrade has ended/,
    );
    expect(await upgrade('--set=gateway.name=default')).toMatchObject({ code: 0 });
  });

  test('an earlier release that is installed as the page says keeps fields of newer definitions and the present Secrets; helm rollback loses both', async () => {
    using folder = temporaryFolder();
    const newer = join(folder.path, 'portcullis');
    cpSync(chartFolder, newer, { recursive: true });
    const definition = join(newer, 'files', 'crds', 'portcullis.dev_modelbindings.yaml');
    const document = parseDocument(readFileSync(definition, 'utf8'));
    const members = ['schema', 'openAPIV3Schema', 'properties', 'spec', 'properties'];
    document.setIn(['spec', 'versions', 0, ...members, 'later'], { type: 'string' });
    writeFileSync(definition, document.toString());

    const upgrade = (chart: string, ...args: readonly string[]) =>
      runOk('upgrade', name, chart, `--namespace=${namespace}`, '--no-hooks', ...args);
    const later = () => within('get', 'modelbinding', 'guarded-echo', '--output=jsonpath={.spec.later}');
    const keys = () =>
      within(
        'get',
        'secret',
        `${name}-portcullis-client-keys`,
        '--output=go-template={{.data.clients | base64decode}}',
      );
    const revision = async (): Promise<string> => {
      const history = await runOk('history', name, `--namespace=${namespace}`, '--output=json');
      return String((JSON.parse(history) as { revision: number }[]).at(-1)?.revision);
    };
    await upgrade(chartFolder);
    const earlier = await revision();
    const leaked = await keys();
    await upgrade(newer);
    await until('the newer definition is served', async () => {
      await within('patch', 'modelbinding', 'guarded-echo', '--type=merge', '--patch={"spec":{"later":"kept"}}');
      return (await later()) === 'kept';
    });
    const clients = Buffer.from(`${'k'.repeat(43)} first\n`).toString('base64');
    await within(
      ...['patch', 'secret', `${name}-portcullis-client-keys`, '--type=merge'],
      `--patch={"data":{"clients":"${clients}"}}`,
    );
    const fresh = await keys();
    expect(fresh).not.toBe(leaked);

    const without = ['crds', 'admissionPolicies', 'userRoles'].map((one) => `--set=${one}.install=false`);
    await upgrade(chartFolder, ...without);
    expect({ later: await later(), keys: await keys() }).toEqual({ later: 'kept', keys: fresh });
    // The next release manages the definitions of the chart again.
    await upgrade(newer);
    expect({ later: await later(), keys: await keys() }).toEqual({ later: 'kept', keys: fresh });

    const rollback = ['rollback', name, earlier, `--namespace=${namespace}`, '--no-hooks'];
    expect((await run(...rollback)).stderr).toMatch(/conflict with "kubectl-patch"/);
    await runOk(...rollback, '--force-conflicts');
    await until('the earlier definition is served', async () => (await later()) === '');
    expect(await keys()).toBe(leaked);
  });

  test('enabling the retrieval service adds a client key for it and keeps every earlier key', async () => {
    const upgrade = (...args: readonly string[]) =>
      runOk('upgrade', name, chartFolder, `--namespace=${namespace}`, '--no-hooks', ...args);
    const keysOf = async () => {
      const secret = JSON.parse(await within('get', 'secret', `${name}-portcullis-client-keys`, '--output=json'));
      const text = (key: string) => Buffer.from(secret.data[key] ?? '', 'base64').toString();
      return { clients: text('clients'), retrieval: text('retrieval') };
    };
    const before = await keysOf();
    expect(before.retrieval).toBe('');
    await upgrade('--set=retrieval.enabled=true');
    const after = await keysOf();
    expect(after.retrieval).toMatch(/^[A-Za-z0-9]{43}$/);
    expect(after.clients).toBe(`${before.clients}${after.retrieval} retrieval\n`);
    await upgrade('--set=retrieval.enabled=true', '--set=retrieval.logLevel=warn');
    expect(await keysOf()).toEqual(after);
    await upgrade();
    expect(await keysOf()).toEqual(after);
    expect(await within('get', 'persistentvolumeclaims', '--output=name')).toContain(
      `${name}-portcullis-retrieval-staging`,
    );
    await upgrade('--set=retrieval.enabled=true');
    expect(await keysOf()).toEqual(after);
  });

  test('pods of an earlier release keep the key sets under the names that they read, through the upgrade and its repetition', async () => {
    using folder = temporaryFolder();
    const earlier = join(folder.path, 'portcullis');
    cpSync(chartFolder, earlier, { recursive: true });
    const helpers = join(earlier, 'templates', '_helpers.tpl');
    const text = readFileSync(helpers, 'utf8');
    // The earlier chart named each key set by its place in the list.
    writeFileSync(helpers, text.replace('(sha256sum $one.issuer | trunc 16)', '(len $keys | toString)'));
    const keys = (x: string) => JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x }] });
    const issuersWith = (...sets: readonly string[]) =>
      JSON.stringify(sets.map((jwks, at) => ({ issuer: `https://${at}.example`, audience: 'portcullis', jwks })));
    const services = ['management', 'retrieval', 'memory', 'catalogue', 'agents'];
    const upgrade = (chart: string, ...sets: readonly string[]) =>
      runOk(
        ...['upgrade', name, chart, `--namespace=${namespace}`, '--no-hooks'],
        ...services.map((service) => `--set-json=${service}.issuers=${issuersWith(...sets)}`),
        ...['retrieval', 'memory', 'catalogue', 'agents'].map((service) => `--set=${service}.enabled=true`),
        '--set=agents.publicUrl=https://agents.example,agents.issuer=https://agents.example',
        '--set=postgresql.enabled=true',
      );
    const filesOf = async (service: string): Promise<Readonly<Record<string, string>>> => {
      const suffix = { management: 'issuers', agents: 'agent-issuers' }[service] ?? `${service}-issuers`;
      const found = await within('get', 'configmap', `${name}-portcullis-${suffix}`, '--output=json');
      const { 'issuers.yaml': _list, ...files } = JSON.parse(found).data;
      return files;
    };
    const fileOf = (at: number): string =>
      `jwks-${createHash('sha256').update(`https://${at}.example`).digest('hex').slice(0, 16)}.json`;
    const [one, two, three] = [keys('b25l'), keys('dHdv'), keys('dGhyZWU')];

    await upgrade(earlier, one, two);
    const former = { 'jwks-0.json': one, 'jwks-1.json': two };
    for (const service of services) expect(await filesOf(service), service).toEqual(former);
    await upgrade(chartFolder, one, two);
    for (const service of services)
      expect(await filesOf(service), service).toEqual({ ...former, [fileOf(0)]: one, [fileOf(1)]: two });
    // The upgrade is repeated with other values while former pods are left.
    await upgrade(chartFolder, three, two);
    for (const service of services)
      expect(await filesOf(service), service).toEqual({ ...former, [fileOf(0)]: three, [fileOf(1)]: two });
  });

  test('service accounts of a release cannot read secrets, act outside the namespace or change RBAC', async () => {
    const may = async (component: string, verb: string, resource: string, place = namespace): Promise<string> => {
      const account = `system:serviceaccount:${namespace}:${name}-portcullis-${component}`;
      return (
        await kubectl(server.kubeconfigFile, [
          'auth',
          'can-i',
          verb,
          resource,
          `--as=${account}`,
          `--namespace=${place}`,
        ])
      ).stdout.trim();
    };
    for (const component of ['operator', 'gateway', 'management', 'example', 'runtime']) {
      for (const [verb, resource] of [
        ['get', 'secrets'],
        ['list', 'secrets'],
        ['create', 'pods/exec'],
        ['create', 'serviceaccounts/token'],
        ['create', 'rolebindings.rbac.authorization.k8s.io'],
        ['update', 'roles.rbac.authorization.k8s.io'],
        ['list', 'namespaces'],
      ] as const) {
        expect(await may(component, verb, resource), `${component} ${verb} ${resource}`).toBe('no');
      }
    }
    expect(await may('operator', 'patch', 'modelbindings.portcullis.dev')).toBe('yes');
    expect(await may('operator', 'patch', 'modelbindings.portcullis.dev', 'third')).toBe('no');
    expect(await may('gateway', 'patch', 'gatewayroutes.portcullis.dev')).toBe('no');
    expect(await may('gateway', 'list', 'gatewayroutes.portcullis.dev')).toBe('yes');
    expect(await may('management', 'patch', 'modelbindings.portcullis.dev')).toBe('yes');
    expect(await may('management', 'delete', 'guardrailpolicies.portcullis.dev')).toBe('no');
    expect(await may('management', 'patch', 'gatewayroutes.portcullis.dev')).toBe('no');
  });

  test('the notes of a release show the next steps, with commands for its names', async () => {
    const notes = async (file: string) =>
      (
        await runOk(
          'install',
          'here',
          chartFolder,
          '--namespace=third',
          '--dry-run=client',
          `--values=${valuesPath(file)}`,
        )
      ).split('NOTES:\n')[1] ?? '';
    const plain = await notes('second-release-values.yaml');
    expect(plain).toContain('kubectl --namespace third port-forward service/guard-gateway 8080:80');
    expect(plain).toContain('get secret guard-client-keys');
    expect(plain).toContain('modelbinding/guarded-echo');
    const open = await notes('least-values.yaml');
    expect(open).toContain('every client that reaches the gateway may call models');
    expect(open).not.toMatch(/client-keys|Bearer/);
    // The binding of the example names the offline model, which this release does not have.
    expect(open).not.toMatch(/guarded-echo|-f examples\/guarded-chat$/m);
    expect(open).toContain('-f examples/guarded-chat/policy.yaml -f model.yaml');
    const production = await notes('production-values.yaml');
    expect(production).toContain('https://here-portcullis-gateway.third.svc:8080/v1');
    expect(plain).toContain('kubectl --namespace third port-forward service/guard-management 8081:80');
    expect(plain).toContain('postgresql.persistence is none');
    expect(plain).toContain('for the audience portcullis');
    expect(production).toContain(
      'https://login.example.com/realms/platform for the audience control-plane or https://ci',
    );
    expect(production).not.toContain('management.issuers is empty');
    expect(open).not.toContain('management');
    const bare = await notes('default-values.yaml');
    expect(bare).toContain('management.issuers is empty: every request is refused');
    for (const text of [plain, open, production, bare]) expect(text).not.toMatch(/<no value>|\{\{ |%!/);
    expect(readFileSync(join(chartFolder, 'templates', 'NOTES.txt'), 'utf8')).toContain(
      'docs/install-on-kubernetes.md',
    );
  });
});
