import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { listFiles } from '../../hack/boundaries/list-files.ts';
import { root } from '../../hack/check/run-tool.ts';
import { podsOf } from './pods-of.ts';
import { chartFolder, helmOk, missingHelm, skipWithout } from './tools/helm.ts';
import {
  ofKind,
  parseManifest,
  type Rendered,
  release,
  renderChart,
  renderFile,
  servesAuthors,
  valuesFiles,
  valuesPath,
} from './tools/render-chart.ts';

type Labels = Readonly<Record<string, string>>;
type Selecting = { readonly spec: { readonly selector: Labels & { readonly matchLabels?: Labels } } };

const clusterKinds = [
  'CustomResourceDefinition',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ClusterRole',
];
/** Objects from extraObjects. */
const isExtra = ({ metadata }: Rendered): boolean => metadata.name.endsWith('-extra');
const keyOf = ({ kind, metadata }: Rendered): string => `${kind} ${metadata.name}`;

describe.each(valuesFiles)('the objects of %s', (file) => {
  skipWithout(missingHelm);
  test('every object is rendered once, with the labels of the release', async () => {
    const objects = (await renderFile(file)).filter((object) => !isExtra(object));
    expect(new Set(objects.map(keyOf)).size).toBe(objects.length);
    for (const object of objects) {
      expect(object.metadata.labels, keyOf(object)).toMatchObject({
        'app.kubernetes.io/name': 'portcullis',
        'app.kubernetes.io/instance': release,
        'app.kubernetes.io/component': expect.stringMatching(/^[a-z]+(-[a-z]+)?$/),
        'app.kubernetes.io/part-of': 'portcullis',
        'app.kubernetes.io/version': '0.1.0',
        'app.kubernetes.io/managed-by': 'Helm',
        'helm.sh/chart': 'portcullis-0.1.0',
        ...(file.startsWith('production') ? { team: 'safety' } : {}),
      });
      if (!clusterKinds.includes(object.kind))
        expect(object.metadata.name, keyOf(object)).toMatch(/^(guard|guardrails-portcullis)(-|$)/);
    }
  });

  test('selectors use labels that never change', async () => {
    const objects = await renderFile(file);
    for (const object of ofKind(objects, 'Deployment', 'StatefulSet', 'Service', 'PodDisruptionBudget')) {
      const { selector } = (object as unknown as Selecting).spec;
      // Selectors are immutable: a change of this value makes every upgrade fail.
      expect(selector.matchLabels ?? selector, keyOf(object)).toEqual({
        'app.kubernetes.io/name': 'portcullis',
        'app.kubernetes.io/instance': release,
        'app.kubernetes.io/component': object.metadata.labels?.['app.kubernetes.io/component'],
        'app.kubernetes.io/part-of': 'portcullis',
      });
    }
  });

  test('components with several replicas have a PodDisruptionBudget and are spread over nodes', async () => {
    const objects = await renderFile(file);
    const budgets = ofKind(objects, 'PodDisruptionBudget').map(({ metadata }) => metadata.name);
    for (const deployment of ofKind(objects, 'Deployment')) {
      const { replicas, template } = deployment['spec'] as { replicas: number; template: { spec: object } };
      expect(budgets.includes(deployment.metadata.name), deployment.metadata.name).toBe(replicas > 1);
      const spread = { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname', maxSkew: 1 }] };
      if (replicas > 1) expect(template.spec, deployment.metadata.name).toMatchObject(spread);
    }
  });

  test('Services name ports that their pods have', async () => {
    const objects = await renderFile(file);
    for (const service of ofKind(objects, 'Service')) {
      const { selector, ports } = service['spec'] as { selector: Labels; ports: readonly { targetPort: string }[] };
      const chosen = podsOf(objects).filter(({ labels }) =>
        Object.entries(selector).every(([key, value]) => labels[key] === value),
      );
      expect(chosen.length, service.metadata.name).toBe(1);
      const named = chosen
        .flatMap(({ spec }) => spec.containers.flatMap((one) => one.ports ?? []))
        .map(({ name }) => name);
      for (const { targetPort } of ports) expect(named, service.metadata.name).toContain(targetPort);
    }
  });

  test('cluster-scoped objects equal their files and stay when the release is uninstalled', async () => {
    const objects = await renderFile(file);
    const found = ofKind(objects, ...clusterKinds);
    const sources = ['crds', 'admission', 'roles'].flatMap(definitionsIn);
    expect(found.map(keyOf).toSorted()).toEqual(file.startsWith('second') ? [] : sources.map(keyOf).toSorted());
    for (const object of found) {
      expect(object.metadata.annotations, keyOf(object)).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
      const { metadata: _ours, ...content } = object;
      const { metadata: _theirs, ...expected } = sources.find((source) => keyOf(source) === keyOf(object)) ?? object;
      expect(content, keyOf(object)).toEqual(expected);
    }
  });

  test('the policies that name users are rendered where the cluster serves them, and only then operator and management API believe the names', async () => {
    const authors = definitionsIn('authors').map(keyOf);
    const installs = !file.startsWith('second');
    const found = async (...args: readonly string[]) => {
      const objects = await renderChart(['--values', valuesPath(file), ...args]);
      const policies = ofKind(objects, 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding');
      for (const { metadata } of policies) expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
      const believing = podsOf(objects).filter(({ spec }) =>
        spec.containers.some(({ env }) =>
          env?.some(({ name, value }) => name === 'PORTCULLIS_CHANGE_AUTHORS' && value === 'admission'),
        ),
      );
      return {
        policies: policies.map(keyOf).toSorted(),
        believing: believing.map(({ labels }) => labels['app.kubernetes.io/component']).toSorted(),
      };
    };
    const managed = /^(least|retrieval)/.test(file) ? [] : ['management'];
    expect(await found()).toEqual({ policies: [], believing: [] });
    expect(await found(servesAuthors)).toEqual({
      policies: installs ? authors.toSorted() : [],
      believing: installs ? [...managed, 'operator'] : [],
    });
  });

  test('a Secret is created only when the values name none', async () => {
    const secrets = ofKind(await renderFile(file), 'Secret');
    const components = secrets.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']).toSorted();
    const expected = file.startsWith('production')
      ? []
      : file.startsWith('least')
        ? ['runtime']
        : file.startsWith('retrieval')
          ? ['catalogue', 'gateway', 'gateway', 'postgres', 'retrieval', 'runtime']
          : ['gateway', 'management', 'postgres', 'runtime'];
    expect(components).toEqual(expected);
    for (const { metadata, data } of secrets) {
      const [text = ''] = Object.values(data as Labels).map((value) => Buffer.from(value, 'base64').toString());
      expect(text, metadata.name).toMatch(
        metadata.name.endsWith('-agent-keys')
          ? /^\{"keys":\[\{"pem":"-----BEGIN PRIVATE KEY-----\\n[A-Za-z0-9+/=]{64}\\n-----END PRIVATE KEY-----\\n"\}\]\}$/
          : /^[A-Za-z0-9]{43}( first\n([A-Za-z0-9]{43} (retrieval|memory|agents|catalogue)\n)*)?$/,
      );
      const isKept = ['postgres', 'runtime'].includes(metadata.labels?.['app.kubernetes.io/component'] ?? '');
      expect(metadata.annotations?.['helm.sh/resource-policy']).toBe(isKept ? 'keep' : undefined);
    }
  });

  test('the example job runs once after the installation and is deleted when it succeeds', async () => {
    const objects = await renderFile(file);
    const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
    const expected = ['Job', 'Role', 'RoleBinding', 'ServiceAccount'];
    const hasExample = ['default', 'second', 'retrieval'].some((one) => file.startsWith(one));
    const tests = file.startsWith('least') || file.startsWith('retrieval') ? ['Pod'] : ['Pod', 'Pod'];
    expect(hooks.map(({ kind }) => kind).toSorted()).toEqual([...(hasExample ? expected : []), ...tests].toSorted());
    for (const { kind, metadata } of hooks) {
      const { 'helm.sh/hook': hook, 'helm.sh/hook-delete-policy': policy } = metadata.annotations ?? {};
      expect({ hook, policy }, kind).toEqual(
        kind === 'Pod'
          ? { hook: 'test', policy: 'before-hook-creation' }
          : { hook: 'post-install', policy: 'before-hook-creation,hook-succeeded' },
      );
    }
  });
});

function definitionsIn(folder: string): readonly Rendered[] {
  return listFiles(root, `crds${folder === 'crds' ? '' : `/${folder}`}`)
    .filter((path) => path.endsWith('.yaml') && path.split('/').length === (folder === 'crds' ? 2 : 3))
    .flatMap((path) => parseAllDocuments(readFileSync(join(root, path), 'utf8')))
    .map((document) => document.toJS() as Rendered);
}

describe('names and texts', () => {
  skipWithout(missingHelm);
  const golden = [
    ['default-values.yaml', 'Deployment', 'guardrails-portcullis-operator'],
    ['default-values.yaml', 'Job', 'guardrails-portcullis-example'],
    ['default-values.yaml', 'ConfigMap', 'guardrails-portcullis-environment'],
    ['default-values.yaml', 'Deployment', 'guardrails-portcullis-management'],
    ['default-values.yaml', 'StatefulSet', 'guardrails-portcullis-postgres'],
    ['default-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-postgres'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-gateway'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-management'],
    ['production-values.yaml', 'ConfigMap', 'guardrails-portcullis-issuers'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-management'],
    ['production-values.yaml', 'ConfigMap', 'guardrails-portcullis-environment'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-gateway'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-operator'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-retrieval'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-retrieval-worker'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-retrieval-worker'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-memory-worker'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-console'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-console'],
    ['production-values.yaml', 'Ingress', 'guardrails-portcullis-console'],
    ['production-values.yaml', 'HTTPRoute', 'guardrails-portcullis-console'],
    ['production-values.yaml', 'ResourceQuota', 'guardrails-portcullis-agents'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-catalogue'],
    ['production-values.yaml', 'Deployment', 'guardrails-portcullis-catalogue-worker'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-catalogue'],
    ['production-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-catalogue-worker'],
    ['retrieval-values.yaml', 'Deployment', 'guardrails-portcullis-retrieval'],
    ['retrieval-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-retrieval'],
    ['retrieval-values.yaml', 'NetworkPolicy', 'guardrails-portcullis-postgres'],
  ] as const;

  test.each(golden)('in %s the %s %s equals its golden file', async (file, kind, name) => {
    const object = ofKind(await renderFile(file), kind).find(({ metadata }) => metadata.name === name);
    const title = `${file.replace('-values.yaml', '')}-${name.replace('guardrails-portcullis-', '')}-${kind.toLowerCase()}.yaml`;
    await expect(stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).toMatchFileSnapshot(
      `testdata/${title}`,
    );
  });

  test('the session key consists of 32 random bytes, and each installation has a different one', async () => {
    const keys = await Promise.all(
      [1, 2].map(async () => {
        const objects = await renderChart([
          ...['--set=console.enabled=true', '--set=console.url=https://a', '--set=console.oidc.issuerUrl=https://b'],
        ]);
        const secret = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name.endsWith('-console-key'));
        const { key = '' } = (secret?.['data'] ?? {}) as Labels;
        return Buffer.from(key, 'base64').toString();
      }),
    );
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) {
      expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    }
  });

  test('a release name that contains the chart name is not repeated, and the longest names fit', async () => {
    const names = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await renderChart(args)).filter(({ kind }) => !clusterKinds.includes(kind)).map(({ metadata }) => metadata.name);
    expect(await names('--set=fullnameOverride=portcullis')).toContain('portcullis-gateway');
    const longest = await names(`--set=fullnameOverride=${'a'.repeat(40)}`);
    expect(Math.max(...longest.map((name) => name.length))).toBeLessThanOrEqual(63);
  });

  /** Members that name another object, a release or a class. */
  const naming =
    /^(namespace|name|existing(Secret|ConfigMap)|secretName|tlsSecret|claimName|serviceName|serviceAccountName|.*[cC]lassName|app\.kubernetes\.io\/(name|instance))$/;

  /** The values of naming members that are not texts. */
  function otherThanText(value: unknown, path = ''): readonly string[] {
    if (Array.isArray(value)) return value.flatMap((one, at) => otherThanText(one, `${path}[${at}]`));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, one]) => {
      const found = naming.test(key) && !['string', 'object'].includes(typeof one) ? [`${path}.${key}`] : [];
      return [...found, ...otherThanText(one, `${path}.${key}`)];
    });
  }

  /** The values with every name of a Secret, ConfigMap or class replaced. */
  function renamed(values: unknown): unknown {
    if (Array.isArray(values)) return values.map(renamed);
    if (typeof values !== 'object' || values === null) return values;
    return Object.fromEntries(
      Object.entries(values).map(([key, one]) => {
        const isName = /^(existing(Secret|ConfigMap)|tlsSecret|.*[cC]lassName)$/.test(key) && one !== '';
        return [key, isName ? '2024' : renamed(one)];
      }),
    );
  }

  test.each([
    ['production-values.yaml', ['--set-string=agents.priorityClassName=2025']],
    [
      'retrieval-values.yaml',
      [
        ...['postgresql.storage', 'retrieval.staging.claim'].map((one) => `--set-string=${one}.storageClassName=2024`),
        ...['postgresql.password', 'gateway.clientKeys', 'retrieval.gatewayKey', 'memory.gatewayKey'].map(
          (one) => `--set-string=${one}.existingSecret=2024`,
        ),
        ...['agents.gatewayKey', 'catalogue.gatewayKey'].map((one) => `--set-string=${one}.existingSecret=2024`),
        ...[
          'serviceMonitor.enabled=true',
          'prometheusRule.enabled=true',
          'networkPolicy.monitoringFrom[0].podSelector.a=b',
        ].map((one) => `--set=${one}`),
      ],
    ],
  ])('names of digits only stay texts in every object of %s', async (file, more) => {
    using folder = temporaryFolder();
    const values = join(folder.path, 'values.yaml');
    writeFileSync(values, JSON.stringify(renamed(parse(readFileSync(valuesPath(file), 'utf8')))));
    const place = ['template', '2024', chartFolder, '--namespace=2024', '--set-string=nameOverride=2024'];
    const objects = parseManifest(await helmOk([...place, '--values', values, ...more]));
    const labels = objects.flatMap(({ metadata }) => Object.values(metadata.labels ?? {}));
    expect(labels).toContain('2024');
    expect(objects.flatMap((object) => otherThanText(object, keyOf(object)))).toEqual([]);
    const texts = objects.flatMap(({ metadata }) => [...Object.values(metadata.labels ?? {}), metadata.name]);
    expect(texts.filter((one) => typeof one !== 'string')).toEqual([]);
  });

  test('extraObjects are rendered as templates', async () => {
    const extra = (await renderFile('production-values.yaml')).find(isExtra);
    expect(extra).toMatchObject({
      metadata: { name: 'guardrails-extra' },
      data: { gateway: 'https://guardrails-portcullis-gateway.safety.svc:8080' },
    });
  });
});
