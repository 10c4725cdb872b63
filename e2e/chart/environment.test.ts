import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readKeysFile } from '#identity/fetch-keys';
import { readIssuersFile } from '#identity/issuers-file';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readProfiles } from '#models/approved-profiles';
import { contentSources } from '../../dataplane/retrieval/ingest/fetch/content-sources.ts';
import { environmentOf } from './environment-of.ts';
import { podsOf } from './pods-of.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, renderChart, renderFile, valuesFiles } from './tools/render-chart.ts';

/** The file of the key set of an issuer. */
const keysFileOf = (issuer: string): string =>
  `jwks-${createHash('sha256').update(issuer).digest('hex').slice(0, 16)}.json`;

describe('the environment', () => {
  skipWithout(missingHelm);
  test.each(valuesFiles)(
    'the operator reads the environment of %s, with the image and token of the release',
    async (file) => {
      const objects = await renderFile(file);
      const { template } = await environmentOf(objects);
      const pods = podsOf(objects);
      const gateway = pods.find(({ labels }) => labels['app.kubernetes.io/component'] === 'gateway');
      expect(template.image).toBe(gateway?.spec.containers[0]?.image);
      const token = gateway?.spec.volumes?.find(({ name }) => name === 'runtime-token')?.secret;
      expect(template.tokenSecret).toBe(token?.secretName);
      const accounts = ofKind(objects, 'ServiceAccount').map(({ metadata }) => metadata.name);
      expect(accounts).toContain(template.serviceAccountName);
    },
  );

  test.each(valuesFiles)(
    'the environment of %s admits only operator, gateways and guarded workers to runtimes',
    async (file) => {
      const objects = await renderFile(file);
      const { allowFrom } = (await environmentOf(objects)).template;
      const admitted = podsOf(objects).filter(({ labels }) =>
        Object.entries(allowFrom).every(([key, value]) => labels[key] === value),
      );
      const components = admitted.map(({ labels }) => labels['app.kubernetes.io/component']);
      const guarded = file.startsWith('production') ? ['catalogue-worker', 'memory', 'memory-worker', 'worker'] : [];
      expect(components.toSorted()).toEqual(['gateway', 'operator', ...guarded].toSorted());
      // Workloads are immutable, so every later chart must keep this label.
      expect(allowFrom).toEqual({ 'portcullis.dev/runtime-client': 'true' });
    },
  );

  test('the management API has the credentials of providers only if it calls them', async () => {
    const managementOf = async (...args: readonly string[]) => {
      const pods = podsOf(
        await renderChart(['--set=providerCredentials.existingSecret=provider-credentials', ...args]),
      );
      const pod = pods.find(({ labels }) => labels['app.kubernetes.io/component'] === 'management');
      const [container] = pod?.spec.containers ?? [];
      return {
        folder: container?.env.find(({ name }) => name === 'PORTCULLIS_SECRETS_DIR')?.value,
        mount: container?.volumeMounts?.find(({ name }) => name === 'credentials')?.mountPath,
        secret: pod?.spec.volumes?.find(({ name }) => name === 'credentials')?.secret?.secretName,
      };
    };
    expect(await managementOf()).toEqual({ folder: undefined, mount: undefined, secret: undefined });
    const folder = '/etc/portcullis/credentials';
    const asking = await managementOf('--set=management.asksProviders=true');
    expect(asking).toEqual({ folder, mount: folder, secret: 'provider-credentials' });
  });

  test('the default environment approves the offline model under the address of its Service', async () => {
    const objects = await renderFile('default-values.yaml');
    const { approved, served } = await environmentOf(objects);
    const endpoint = 'http://guardrails-portcullis-echo.safety.svc/v1';
    expect(approved).toEqual([{ name: 'echo', kind: 'model', endpoint, enabled: true }]);
    expect(served).toEqual([]);
    const service = ofKind(objects, 'Service').find(({ metadata }) => metadata.name === 'guardrails-portcullis-echo');
    expect(service?.['spec']).toMatchObject({ ports: [{ port: 80 }] });
  });

  test("the environment of the operator contains every setting of the chart's values", async () => {
    const { approved, limits, served, template } = await environmentOf(await renderFile('production-values.yaml'));
    expect(approved.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'model main-model',
      'model local-model',
      'detector pii',
      'classifier judge',
    ]);
    expect(limits).toMatchObject({ maxBodyBytes: 131_072, maxConcurrency: 16, maxMessages: 64 });
    expect(served).toMatchObject([{ name: 'tickets', policyRef: { name: 'ticket-policy', revision: 3 }, replicas: 2 }]);
    expect(template).toMatchObject({
      labels: { 'cost-centre': 'guardrails', team: 'safety' },
      annotations: { 'example.com/owner': 'safety' },
      imagePullSecrets: [{ name: 'pull' }],
      providerSecret: 'provider-credentials',
      authoritiesConfigMap: 'company-authorities',
      runAsUser: 1_000_700_000,
      maxUnavailable: '50%',
      preStopSeconds: 10,
      terminationGraceSeconds: 45,
      ingress: [{ podSelector: { matchLabels: { app: 'tickets' } } }, { namespaceSelector: expect.anything() }],
      egress: [{ to: [{ ipBlock: { cidr: '198.51.100.0/24' } }] }],
    });
  });

  test('without runAsUser the environment of the operator sets no user id for runtimes', async () => {
    const templateOf = async (...args: readonly string[]) => (await environmentOf(await renderChart(args))).template;
    expect(await templateOf()).not.toHaveProperty('runAsUser');
    expect(await templateOf('--set=runAsUser=', '--set=management.enabled=false')).toMatchObject({ runAsUser: '' });
    expect(await templateOf('--set=runAsUser=1234')).toMatchObject({ runAsUser: 1_234 });
  });

  test.each(valuesFiles.filter((file) => !file.startsWith('least') && !file.startsWith('retrieval')))(
    'the management API reads the issuers of %s',
    async (file) => {
      const map = ofKind(await renderFile(file), 'ConfigMap').find(
        ({ metadata }) => metadata.name.endsWith('-portcullis-issuers') || metadata.name === 'guard-issuers',
      );
      using folder = temporaryFolder();
      for (const [name, text] of Object.entries(map?.['data'] as Record<string, string>)) {
        writeFileSync(join(folder.path, name), text);
      }
      const issuers = await readIssuersFile(join(folder.path, 'issuers.yaml'));
      const keys = join(folder.path, keysFileOf('https://kubernetes.default.svc.cluster.local'));
      const expected: Readonly<Record<string, readonly unknown[]>> = {
        'default-values.yaml': [],
        'production-values.yaml': [
          new URL('https://login.example.com/realms/platform/certs'),
          new URL('https://ci.example.com:8180/keys'),
        ],
        'second-release-values.yaml': [{ file: keys }],
      };
      expect(issuers.map(({ jwks }) => jwks)).toEqual(expected[file]);
      if (file.startsWith('second')) expect((await readKeysFile(keys)).has('first')).toBe(true);
    },
  );

  test('the chart accepts the key set of an issuer as text', async () => {
    using folder = temporaryFolder();
    const keys = join(folder.path, 'keys.json');
    const text =
      '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}\n';
    writeFileSync(keys, text);
    const objects = await renderChart([
      '--set=management.issuers[0].issuer=a',
      '--set=management.issuers[0].audience=b',
      `--set-file=management.issuers[0].jwks=${keys}`,
    ]);
    const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-issuers'));
    expect(map?.['data']).toMatchObject({ [keysFileOf('a')]: text });
  });

  test.each([
    ['agents', 'agent-issuers'],
    ['management', 'issuers'],
    ['retrieval', 'retrieval-issuers'],
    ['memory', 'memory-issuers'],
    ['catalogue', 'catalogue-issuers'],
  ])(
    'the key set of an issuer of %s has the same file whatever other issuers are listed, so that a running process never takes it for that of another',
    async (path, name) => {
      const enabled = ['agents', 'retrieval', 'memory', 'catalogue'].map((one) => `--set=${one}.enabled=true`);
      const addresses = ['--set=agents.publicUrl=https://a', '--set=agents.issuer=https://b'];
      const filesOf = async (...issuers: readonly string[]) => {
        const lists = issuers.flatMap((issuer, at) => [
          `--set=${path}.issuers[${at}].issuer=${issuer}`,
          `--set=${path}.issuers[${at}].audience=x`,
          `--set-literal=${path}.issuers[${at}].jwks={"keys":[{"kid":"${issuer}"}]}`,
        ]);
        const objects = await renderChart([...enabled, ...addresses, ...lists]);
        const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith(`-portcullis-${name}`));
        const files = Object.entries((map?.['data'] ?? {}) as Record<string, string>);
        return Object.fromEntries(files.filter(([file]) => file !== 'issuers.yaml'));
      };
      const both = await filesOf('first', 'second');
      expect(Object.keys(both).toSorted()).toEqual([keysFileOf('first'), keysFileOf('second')].toSorted());
      expect(await filesOf('second', 'first')).toEqual(both);
      const alone = await filesOf('second');
      expect(alone).toEqual({ [keysFileOf('second')]: '{"keys":[{"kid":"second"}]}' });
      expect(both).toMatchObject(alone);
    },
  );

  test.each(['production', 'retrieval'])(
    'the retrieval service reads the profiles, content sources and issuers of %s-values.yaml',
    async (name) => {
      const objects = await renderFile(`${name}-values.yaml`);
      using folder = temporaryFolder();
      for (const map of ofKind(objects, 'ConfigMap').filter((one) =>
        /-retrieval(-issuers)?$/.test(one.metadata.name),
      )) {
        for (const [file, text] of Object.entries(map['data'] as Record<string, string>)) {
          writeFileSync(join(folder.path, file), text);
        }
      }
      const profiles = await readProfiles(join(folder.path, 'models.yaml'));
      const [issuer] = await readIssuersFile(join(folder.path, 'issuers.yaml'));
      const sources = contentSources.parse(parse(readFileSync(join(folder.path, 'content-sources.yaml'), 'utf8')));
      if (name === 'retrieval') {
        expect([...profiles.embedding.values()]).toMatchObject([
          { id: 'offline', model: 'guarded-echo', dimension: 384 },
        ]);
        expect(issuer).toMatchObject({ audience: 'portcullis', tenants: ['safety'] });
        expect(sources).toEqual({ s3: {}, allowedNetworks: [], tenantNetworks: {} });
        return;
      }
      expect([...profiles.embedding.values()]).toMatchObject([
        { model: 'embeddings', batch: 32, queryPrefix: 'query: ' },
      ]);
      expect([...profiles.rewrite.values()]).toMatchObject([{ model: 'small-chat', timeoutMs: 1_500 }]);
      expect(issuer).toMatchObject({ audience: 'knowledge', groupsClaim: 'groups', tenantsClaim: 'tenants' });
      expect(sources.s3).toEqual({ sales: [{ bucket: 'documents', key: 'sales/' }] });
    },
  );

  test('runtimes get no network policy when network policies are disabled', async () => {
    expect((await environmentOf(await renderFile('least-values.yaml'))).template.networkPolicy).toBe(false);
    expect((await environmentOf(await renderFile('default-values.yaml'))).template.networkPolicy).toBe(true);
  });
});
