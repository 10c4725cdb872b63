import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeSettings, type Settings } from '#kit/env/read-environment';
import { settings as cliSettings } from '../../cli/cluster/config.ts';
import { settings as catalogueSettings } from '../../dataplane/catalogue/config.ts';
import { settings as consoleSettings } from '../../dataplane/console/config.ts';
import { settings as echoSettings } from '../../dataplane/echo/config.ts';
import { settings as gatewaySettings } from '../../dataplane/gateway/config.ts';
import { settings as memorySettings } from '../../dataplane/memory/config.ts';
import { settings as postgresSettings } from '../../dataplane/postgres/config.ts';
import { settings as retrievalSettings } from '../../dataplane/retrieval/config.ts';
import { settings as operatorSettings } from '../../operator/config.ts';
import { settings as managementSettings } from '../../operator/management/config.ts';
import { scaleHeapOptions, scaleMib } from '../memory-scale/scale-service.ts';
import { podsOf, type RenderedContainer, type RenderedPod } from './pods-of.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderChart, renderFile, valuesFiles } from './tools/render-chart.ts';

/** The restricted profile of the Pod Security Standards, with a read-only root file system. */
const containerContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
const podContextOf = (user: number) => ({ ...restricted, runAsUser: user, runAsGroup: user, fsGroup: user });
const volumeKinds = ['configMap', 'secret', 'emptyDir', 'persistentVolumeClaim'];
/** Writable mounts: the database has its data folder and temporary folders. */
const writable: Readonly<Record<string, readonly string[]>> = {
  'operator/main.ts': ['/var/cache/portcullis'],
  'dataplane/postgres/main.ts': ['/var/lib/portcullis/postgres', '/tmp'],
};
/** Writable mounts of pods that stage documents in a claim. */
const staging = ['/var/lib/portcullis/staging'];
const isDatabase = ({ labels }: RenderedPod): boolean => labels['app.kubernetes.io/component'] === 'postgres';

/** Settings of the program in a container; `other` matches settings for other run modes. */
const programs: Readonly<Record<string, { readonly settings: Settings; readonly other: RegExp }>> = {
  'operator/main.ts': { settings: operatorSettings, other: /^PORTCULLIS_(DATA_DIR|API_LISTEN)$/ },
  'dataplane/gateway/main.ts': { settings: gatewaySettings, other: /^$/ },
  'dataplane/echo/main.ts': { settings: echoSettings, other: /^$/ },
  'operator/management/main.ts': { settings: managementSettings, other: /^$/ },
  'dataplane/postgres/main.ts': { settings: postgresSettings, other: /^$/ },
  'dataplane/memory/main.ts': { settings: memorySettings, other: /^$/ },
  'dataplane/retrieval/main.ts': { settings: retrievalSettings, other: /^$/ },
  'dataplane/catalogue/main.ts': { settings: catalogueSettings, other: /^$/ },
  'dataplane/console/main.ts': { settings: consoleSettings, other: /^$/ },
  'cli/cluster/apply-examples.ts': { settings: cliSettings, other: /^$/ },
  'cli/cluster/test-gateway.ts': { settings: cliSettings, other: /^$/ },
  'cli/cluster/test-management.ts': { settings: cliSettings, other: /^$/ },
};

const namesOf = (objects: readonly Rendered[], kind: string): readonly string[] =>
  ofKind(objects, kind).map(({ metadata }) => metadata.name);

describe.each(valuesFiles)('the pods of %s', (file) => {
  skipWithout(missingHelm);
  let objects: readonly Rendered[];
  let pods: readonly RenderedPod[];
  beforeAll(async () => {
    if (missingHelm !== undefined) return;
    objects = await renderFile(file);
    pods = podsOf(objects);
  });
  const eachContainer = (look: (container: RenderedContainer, pod: RenderedPod) => void): void => {
    for (const pod of pods) for (const container of pod.spec.containers) look(container, pod);
  };

  test('the chart creates exactly the pods of its components', () => {
    const components = pods.map(({ labels }) => labels['app.kubernetes.io/component']);
    const all = ['echo', 'example', 'gateway', 'management', 'operator', 'postgres', 'test', 'test'];
    const without: Readonly<Record<string, readonly string[]>> = {
      'least-values.yaml': ['gateway', 'operator', 'test'],
      'production-values.yaml': [
        ...[
          'catalogue',
          'catalogue-worker',
          'console',
          'gateway',
          'management',
          'memory',
          'memory-worker',
          'operator',
          'retrieval',
        ],
        ...['test', 'test', 'worker'],
      ],
      'retrieval-values.yaml': [
        ...['catalogue', 'catalogue-worker', 'echo', 'example', 'gateway', 'memory', 'operator', 'postgres'],
        ...['retrieval', 'test'],
      ],
    };
    expect(components.toSorted()).toEqual(without[file] ?? all);
  });

  test('pods meet the restricted profile and have a read-only root file system', () => {
    for (const pod of pods) {
      const { spec, name } = pod;
      const user = file.startsWith('production') ? 1_000_700_000 : 65_532;
      // PostgreSQL refuses a data folder whose permissions were widened after its first start.
      const own = isDatabase(pod) ? { fsGroupChangePolicy: 'OnRootMismatch' } : {};
      expect(spec.securityContext, name).toEqual({ ...podContextOf(user), ...own });
      for (const member of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers', 'ephemeralContainers']) {
        expect(spec, name).not.toHaveProperty(member);
      }
      for (const volume of spec.volumes ?? []) {
        expect(volumeKinds, `${name} ${volume.name}`).toContain(Object.keys(volume).find((key) => key !== 'name'));
      }
    }
    eachContainer((container, { name }) => {
      expect(container.securityContext, name).toEqual(containerContext);
      for (const port of container.ports ?? []) expect(port, name).not.toHaveProperty('hostPort');
    });
  });

  test('pods have resources and probes, and no service links or token that they do not need', () => {
    for (const { spec, name, isLasting } of pods) {
      expect(spec.enableServiceLinks, name).toBe(false);
      const needsToken =
        /-(operator|gateway|management|example|catalogue-worker)$/.test(name) && !name.endsWith('-test-management');
      expect(spec.automountServiceAccountToken, name).toBe(needsToken);
      // The retrieval service runs with a service account of its own, so that it has none of the rights of the default
      // account.
      expect(spec.serviceAccountName !== undefined, name).toBe(
        needsToken || /-(retrieval|memory)(-worker)?$|-(console|catalogue)$/.test(name),
      );
      for (const container of spec.containers) {
        expect(container.resources, name).toMatchObject({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
        const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
        expect(probes.filter((probe) => probe !== undefined).length, name).toBe(isLasting ? 3 : 0);
      }
    }
  });

  test('all pods but the database run one image, with all settings of their program and no unknown ones', () => {
    const others = pods.filter((pod) => !isDatabase(pod));
    const images = new Set(others.flatMap(({ spec }) => spec.containers.map(({ image }) => image)));
    expect(images.size).toBe(1);
    eachContainer(({ command, env }, { name }) => {
      const [node, path = ''] = command;
      expect(node).toBe('node');
      const program = programs[path];
      if (program === undefined) throw new Error(`${name} runs ${path}, which is not a program of this checkout`);
      const rows = describeSettings(program.settings);
      const given = env.map((variable) => variable.name).filter((variable) => !variable.startsWith('NODE_'));
      expect(
        given.filter((variable) => !rows.some((row) => row.name === variable)),
        name,
      ).toEqual([]);
      const required = rows.filter((row) => row.required && !program.other.test(row.name)).map((row) => row.name);
      expect(
        required.filter((variable) => !given.includes(variable)),
        name,
      ).toEqual([]);
    });
  });

  test('pods refer only to objects of the release or to Secrets named in the values', () => {
    const given = new Set([
      'provider-credentials',
      'runtime-token',
      'admin-token',
      'client-keys',
      'database-password',
      'openfga-token',
      'memory-gateway-key',
      'catalogue-gateway-key',
      'catalogue-cursor-key',
      'catalogue-events-secret',
      'console-client',
      'console-cookie-key',
      'gateway-agent-keys',
      'retrieval-gateway-key',
      'collections-token',
      's3-keys',
      'nats-credentials',
      'opensearch-credentials',
      'audit-key',
      'collector-token',
      ...['gateway', 'management', 'retrieval', 'memory', 'console', 'catalogue'].map((name) => `${name}-tls`),
    ]);
    const foreign = [
      ...['company-authorities', 's3-authorities', 'nats-authorities', 'opensearch-authorities'],
      'portcullis-served-tickets',
    ];
    for (const { spec, name } of pods) {
      if (spec.serviceAccountName !== undefined) {
        expect(namesOf(objects, 'ServiceAccount'), name).toContain(spec.serviceAccountName);
      }
      for (const { secret, configMap, persistentVolumeClaim, ...volume } of spec.volumes ?? []) {
        if (persistentVolumeClaim !== undefined) {
          expect(namesOf(objects, 'PersistentVolumeClaim'), name).toContain(persistentVolumeClaim.claimName);
        }
        if (configMap !== undefined && !foreign.includes(configMap.name)) {
          expect(namesOf(objects, 'ConfigMap'), name).toContain(configMap.name);
        }
        if (secret === undefined) continue;
        const isOurs = namesOf(objects, 'Secret').includes(secret.secretName);
        expect(isOurs || given.has(secret.secretName), `${name}: ${secret.secretName}`).toBe(true);
        expect(secret.defaultMode, `${name}: ${volume.name}`).toBe(0o440);
      }
    }
    eachContainer(({ volumeMounts = [], ports = [], ...container }, { spec, name, claims }) => {
      const volumes = [...(spec.volumes ?? []).map((volume) => volume.name), ...claims.map((one) => one.metadata.name)];
      expect(volumeMounts.map((mount) => mount.name).toSorted(), name).toEqual(volumes.toSorted());
      const written = volumeMounts.filter(({ readOnly }) => readOnly !== true).map((mount) => mount.mountPath);
      const stages = (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
      expect(written, name).toEqual(stages ? staging : (writable[container.command[1] ?? ''] ?? []));
      const paths = volumeMounts.map((mount) => mount.mountPath);
      for (const { value } of container.env) {
        if (value?.startsWith('/etc/portcullis/') !== true) continue;
        expect(
          paths.some((path) => value.startsWith(path)),
          `${name}: ${value}`,
        ).toBe(true);
      }
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      const probed = probes.flatMap((probe) => (probe === undefined ? [] : [probe.httpGet.port]));
      const named = ports.map((port) => port.name);
      expect(
        probed.filter((port) => !named.includes(port)),
        name,
      ).toEqual([]);
    });
  });

  test('the termination grace period of a pod covers its shutdown', () => {
    for (const { spec, name, isLasting } of pods) {
      if (!isLasting) continue;
      for (const { lifecycle } of spec.containers) {
        const sleep = lifecycle?.preStop?.sleep.seconds ?? 0;
        // Every process exits within 30 s or is killed by its own watchdog.
        expect(spec.terminationGracePeriodSeconds, name).toBeGreaterThanOrEqual(sleep + 30);
        if (lifecycle !== undefined) expect(sleep, name).toBeGreaterThan(0);
      }
    }
  });
});

describe('values of pods', () => {
  skipWithout(missingHelm);
  const external = [
    '--set=externalDatabase.url=postgres://u@db.example/d',
    '--set=externalDatabase.password.existingSecret=p',
  ];
  const podOf = async (component: string, ...args: readonly string[]): Promise<RenderedPod> => {
    const found = podsOf(await renderChart(args)).find(
      (pod) => pod.labels['app.kubernetes.io/component'] === component,
    );
    if (found === undefined) throw new Error(`there is no pod of ${component}`);
    return found;
  };
  const imageOf = async (...args: readonly string[]) => (await podOf('gateway', ...args)).spec.containers[0]?.image;

  test('an image digest takes precedence over a tag', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(await imageOf()).toBe('localhost/portcullis:0.1.0');
    expect(await imageOf('--set=image.tag=dev')).toBe('localhost/portcullis:dev');
    expect(await imageOf('--set=image.tag=dev', `--set=image.digest=${digest}`)).toBe(`localhost/portcullis@${digest}`);
  });

  test('pods set no user id when runAsUser is empty, for clusters that assign one to each namespace', async () => {
    const args = ['--set=runAsUser=', '--set=postgresql.enabled=false', ...external];
    for (const component of ['operator', 'gateway', 'management', 'echo', 'example', 'test']) {
      expect((await podOf(component, ...args)).spec.securityContext, component).toEqual(restricted);
    }
  });

  test('the database runs under any user id, with a name for it', async () => {
    expect((await podOf('postgres')).spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      '/var/lib/portcullis/postgres',
      '/tmp',
      '/etc/portcullis/database',
    ]);
    const objects = await renderChart(['--set=runAsUser=1000700000']);
    const pod = podsOf(objects).find(isDatabase);
    expect(pod?.spec.containers[0]?.volumeMounts).toContainEqual({
      name: 'users',
      mountPath: '/etc/passwd',
      subPath: 'passwd',
      readOnly: true,
    });
    const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-postgres'));
    expect(map?.['data']).toEqual({
      passwd: 'portcullis:x:1000700000:1000700000::/nonexistent:/sbin/nologin\n',
    });
  });

  test('the database image has the tag of the platform image unless its own tag or digest is set', async () => {
    const image = async (...args: readonly string[]) => (await podOf('postgres', ...args)).spec.containers[0]?.image;
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(await image()).toBe('localhost/portcullis-postgres:0.1.0');
    expect(await image('--set=image.tag=dev')).toBe('localhost/portcullis-postgres:dev');
    expect(await image('--set=image.tag=dev', '--set=postgresql.image.tag=v18')).toBe(
      'localhost/portcullis-postgres:v18',
    );
    expect(await image(`--set=postgresql.image.digest=${digest}`)).toBe(`localhost/portcullis-postgres@${digest}`);
    expect(await image(`--set=image.digest=${digest}`)).toBe('localhost/portcullis-postgres:0.1.0');
  });

  test('the data of the database are in a claim of the named storage class, or in the pod', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '4Gi' } } };
    expect((await podOf('postgres')).claims).toMatchObject([{ metadata: { name: 'data' }, spec }]);
    const named = await podOf('postgres', '--set=postgresql.storage.storageClassName=fast');
    expect(named.claims).toMatchObject([{ spec: { ...spec, storageClassName: 'fast' } }]);
    const none = await podOf('postgres', '--set=postgresql.persistence=none', '--set=postgresql.storage.size=1Gi');
    expect(none.claims).toEqual([]);
    expect(none.spec.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '1Gi' } });
  });

  test('the management API uses the database, issuers and administrators of the values', async () => {
    const environmentOf = (pod: RenderedPod) =>
      Object.fromEntries((pod.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
    const plain = environmentOf(await podOf('management'));
    expect(plain).toMatchObject({
      PORTCULLIS_DATABASE_URL: 'postgres://portcullis@guardrails-portcullis-postgres.safety.svc:5432/portcullis',
      PORTCULLIS_RELATIONS: 'postgres',
    });
    expect(plain).not.toHaveProperty('PORTCULLIS_ADMINISTRATORS');
    expect(plain).not.toHaveProperty('PORTCULLIS_OPENFGA_URL');
    const [production] = podsOf(await renderFile('production-values.yaml')).filter(
      ({ labels }) => labels['app.kubernetes.io/component'] === 'management',
    );
    expect(environmentOf(production!)).toMatchObject({
      PORTCULLIS_DATABASE_URL: 'postgres://portcullis@db.example.com:6432/portcullis?sslmode=verify-full',
      PORTCULLIS_ADMINISTRATORS:
        'https://login.example.com/realms/platform|0b6e1a34-4f0f-4a5b-9d5e-6f6d2f1f7a10,https://ci.example.com|pipeline:policies',
      PORTCULLIS_RELATIONS: 'openfga',
      PORTCULLIS_OPENFGA_URL: 'https://openfga.example.com',
      PORTCULLIS_OPENFGA_STORE: 'guardrails',
      PORTCULLIS_OPENFGA_TOKEN_FILE: '/etc/portcullis/openfga/token',
    });
  });

  test.each([
    ['256Mi', '192'],
    ['2Gi', '1536'],
    ['1500M', undefined],
  ])('with a memory limit of %s each heap has %s MiB', async (limit, expected) => {
    const components = ['operator', 'gateway', 'management'];
    const objects = await renderChart(components.map((one) => `--set=${one}.resources.limits.memory=${limit}`));
    for (const component of components) {
      const pod = podsOf(objects).find(({ labels }) => labels['app.kubernetes.io/component'] === component);
      const options = pod?.spec.containers[0]?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value;
      expect(/--max-old-space-size=(\d+)( |$)/.exec(options ?? '')?.[1], component).toBe(expected);
    }
  });

  test('the pod of the database has memory for each connection that its server admits', async () => {
    const pod = podsOf(await renderFile('default-values.yaml')).find(isDatabase);
    const resources = pod?.spec.containers[0]?.resources as { readonly limits: { readonly memory: string } };
    const source = readFileSync(new URL('../../dataplane/postgres/server/start-server.ts', import.meta.url), 'utf8');
    const admitted = [...source.matchAll(/max_connections: (\d+),/g)].map(([, count]) => Number(count));
    // A used connection takes up to 6 MiB, in addition to the shared buffers and the process that supervises the
    // server.
    expect(Number(/^(\d+)Mi$/.exec(resources.limits.memory)?.[1])).toBeGreaterThanOrEqual(
      Math.max(...admitted) * 6 + 64 + 128,
    );
  });

  test.each([0, 1])(
    'the memory service has the index and heap with which it is measured, with %i workers',
    async (workers) => {
      const objects = await renderChart(['--set=memory.enabled=true', `--set=memory.worker.replicas=${workers}`]);
      const pods = podsOf(objects).filter(({ name }) => /-memory(-worker)?$/.test(name));
      expect(pods).toHaveLength(1 + workers);
      for (const { spec } of pods) {
        expect(spec.containers[0]?.env).toContainEqual({ name: 'PORTCULLIS_INDEX_MIB', value: `${scaleMib.index}` });
        expect(spec.containers[0]?.env).toContainEqual({ name: 'NODE_OPTIONS', value: scaleHeapOptions });
      }
    },
  );

  /** Values that running processes read again. */
  const provider: readonly string[] = [
    '--set=providers[0].name=other',
    '--set=providers[0].kind=model',
    '--set=providers[0].endpoint=https://models.example/v1',
    '--set=providers[0].enabled=true',
  ];

  test('the operator is restarted when configuration that it reads at startup changes, and not otherwise', async () => {
    const note = async (...args: readonly string[]) =>
      (await podOf('operator', ...args)).annotations['checksum/environment'];
    const first = await note();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await note('--set=gateway.logLevel=debug')).toBe(first);
    expect(await note('--set=limits.maxMatches=7', ...provider)).toBe(first);
    expect(await note('--set=runtime.resources.limits.memory=600Mi')).not.toBe(first);
    const entry = '{"name":"text","policyRef":{"name":"p","revision":1},"contentProfile":"c"}';
    expect(await note(`--set-json=servedPolicies=[${entry}]`)).not.toBe(first);
  });

  test('the management API is restarted when its issuers change, and not for providers and limits, which it follows', async () => {
    const annotations = async (...args: readonly string[]) => (await podOf('management', ...args)).annotations;
    const issuer = (audience: string): readonly string[] => [
      '--set=management.issuers[0].issuer=a',
      '--set=management.issuers[0].jwksUrl=https://a.example',
      `--set=management.issuers[0].audience=${audience}`,
    ];
    const first = await annotations();
    expect(first['checksum/issuers']).toMatch(/^[0-9a-f]{64}$/);
    expect(await annotations('--set=limits.maxMatches=7', ...provider)).toEqual(first);
    const one = await annotations(...issuer('one'));
    expect(one).not.toEqual(first);
    expect(await annotations(...issuer('two'))).not.toEqual(one);
  });

  test('gateways are restarted when the issuers of agents change, and not for their key sets and connections, which they follow', async () => {
    const agents = ['enabled=true', 'publicUrl=https://a', 'issuer=https://b'].map((one) => `--set=agents.${one}`);
    const annotations = async (...args: readonly string[]) => (await podOf('gateway', ...args)).annotations;
    const issuer = (audience: string, key: string): readonly string[] => [
      ...agents,
      '--set=agents.issuers[0].issuer=a',
      `--set=agents.issuers[0].audience=${audience}`,
      `--set-literal=agents.issuers[0].jwks={"keys":[{"kid":"${key}"}]}`,
    ];
    expect(await annotations()).not.toHaveProperty('checksum/issuers');
    const first = await annotations(...agents);
    expect(first['checksum/issuers']).toMatch(/^[0-9a-f]{64}$/);
    const connection = '{"name":"crm","kind":"http","url":"https://crm.example/api","agents":["hello"]}';
    expect(await annotations(...agents, `--set-json=agents.connections=[${connection}]`)).toEqual(first);
    const one = await annotations(...issuer('one', 'first'));
    expect(one).not.toEqual(first);
    expect(await annotations(...issuer('one', 'second'))).toEqual(one);
    expect(await annotations(...issuer('two', 'first'))).not.toEqual(one);
  });

  test.each([
    ['retrieval', ['retrieval']],
    ['memory', ['memory']],
    ['catalogue', ['catalogue', 'catalogue-worker']],
  ])(
    'the pods of %s are restarted when the gateway becomes an issuer of tokens for them, or changes its name',
    async (service, names) => {
      const agents = (issuer: string): readonly string[] => [
        ...['enabled=true', 'publicUrl=https://a', `issuer=${issuer}`].map((one) => `--set=agents.${one}`),
      ];
      for (const name of names) {
        const note = async (...args: readonly string[]) =>
          (await podOf(name, `--set=${service}.enabled=true`, ...args)).annotations['checksum/issuers'];
        const one = await note(...agents('https://b'));
        expect(one, name).toMatch(/^[0-9a-f]{64}$/);
        expect(await note(...agents('https://c')), name).not.toBe(one);
        // The catalogue needs agents.
        if (service !== 'catalogue') expect(await note(), name).not.toBe(one);
      }
    },
  );

  test('every pod that lasts trusts the authorities of the values, and the database, which calls nobody, does not', async () => {
    const file = '/etc/portcullis/authorities/ca.crt';
    const production = podsOf(await renderFile('production-values.yaml'));
    const own = podsOf(
      await renderChart(['--set=trustedAuthorities.existingConfigMap=company-authorities', '--set=echo.enabled=true']),
    );
    const lasting = [...production, ...own].filter(({ isLasting }) => isLasting);
    expect(lasting.length).toBeGreaterThan(10);
    for (const { name, spec } of lasting) {
      const isOffline = /-(postgres|echo)$/.test(name);
      const [container] = spec.containers;
      const trusted = container?.env.find((one) => one.name === 'NODE_EXTRA_CA_CERTS')?.value;
      const mount = container?.volumeMounts?.find(({ mountPath }) => mountPath === '/etc/portcullis/authorities');
      const volume = spec.volumes?.find((one) => one.name === mount?.name);
      expect({ trusted, map: volume?.configMap?.name }, name).toEqual(
        isOffline ? { trusted: undefined, map: undefined } : { trusted: file, map: 'company-authorities' },
      );
    }
  });
});
