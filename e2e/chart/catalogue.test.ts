import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readIssuersFile } from '#identity/issuers-file';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readProfiles } from '#models/approved-profiles';
import { readConfig } from '../../dataplane/catalogue/config.ts';
import { verifies } from '../support/verifies.ts';
import { podsOf, type RenderedPod } from './pods-of.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderChart, renderFile } from './tools/render-chart.ts';

const files = ['production-values.yaml', 'retrieval-values.yaml'] as const;

function podOf(objects: readonly Rendered[], component: string): RenderedPod {
  const found = podsOf(objects).find(({ labels }) => labels['app.kubernetes.io/component'] === component);
  if (found === undefined) throw new Error(`there is no pod of ${component}`);
  return found;
}

/** The settings of the pod, read on a machine on which none of the mounted files exists. */
function settingsOf(objects: readonly Rendered[], component: string) {
  const [container] = podOf(objects, component).spec.containers;
  const here = (container?.env ?? []).map(({ name, value = 'safety' }) => [
    name,
    name.endsWith('_FILE') ? import.meta.filename : value,
  ]);
  return readConfig(Object.fromEntries(here)).config;
}

describe('the agent catalogue of the chart', () => {
  skipWithout(missingHelm);

  test.each(files)(
    'with %s the API gets no address of the API server, and the worker gets one and its rights',
    async (file) => {
      const objects = await renderFile(file);
      const kind = file.startsWith('production') ? 'openfga' : 'postgres';
      const shared = { identity: { mode: 'production' }, relations: { kind } };
      expect(settingsOf(objects, 'catalogue')).toMatchObject({ ...shared, role: 'api', api: undefined });
      expect(podOf(objects, 'catalogue').spec.automountServiceAccountToken).toBe(false);
      expect(settingsOf(objects, 'catalogue-worker')).toMatchObject({
        ...shared,
        role: 'worker',
        api: { url: new URL('https://kubernetes.default.svc'), namespace: 'safety' },
      });
      const [binding] = ofKind(objects, 'RoleBinding').filter(({ metadata }) => metadata.name.includes('-catalogue'));
      const { serviceAccountName } = podOf(objects, 'catalogue-worker').spec;
      expect(binding?.['subjects']).toMatchObject([{ kind: 'ServiceAccount', name: serviceAccountName }]);
    },
  );

  test('values of the catalogue reach the process that uses them', async () => {
    const objects = await renderFile('production-values.yaml');
    const [api, worker] = [settingsOf(objects, 'catalogue'), settingsOf(objects, 'catalogue-worker')];
    expect(api).toMatchObject({
      ...{ embeddingProfile: 'main', indexBytes: 128 * 1_048_576, logLevel: 'warn', events: undefined },
      guard: 'unguarded',
      requests: { atOnce: 16, perMinute: 2_400 },
    });
    expect(worker).toMatchObject({
      ...{ embeddingProfile: 'main', massRemoval: 'pause' },
      guard: { targetFile: import.meta.filename },
      events: {
        url: new URL('https://hooks.example.com:8444/agents'),
        source: 'https://guardrails.example.com/catalogue',
      },
    });
  });

  test('with NATS only the worker gets its address, credentials and authorities, and reaches its port', async () => {
    const agents = ['enabled=true', 'publicUrl=https://a.example', 'issuer=https://b.example'];
    const nats = ['url=tls://nats.example:4333', 'credentials.existingSecret=c', 'authorities.existingConfigMap=a'];
    const objects = await renderChart([
      ...agents.map((one) => `--set=agents.${one}`),
      '--set=catalogue.enabled=true',
      ...nats.map((one) => `--set=catalogue.events.nats.${one}`),
    ]);
    expect(settingsOf(objects, 'catalogue').events).toBeUndefined();
    expect(settingsOf(objects, 'catalogue-worker').events).toMatchObject({
      ...{ kind: 'nats', source: '/portcullis/catalogue' },
      nats: { servers: ['tls://nats.example:4333'], stream: 'portcullis-agents', credentials: { kind: 'creds' } },
    });
    const { spec } = podOf(objects, 'catalogue-worker');
    const mounts = spec.containers[0]?.volumeMounts?.map(({ name }) => name);
    expect(mounts).toEqual(spec.volumes?.map(({ name }) => name));
    expect(mounts).toEqual(expect.arrayContaining(['nats', 'nats-authorities']));
    const policy = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith('-catalogue-worker'));
    expect(JSON.stringify(policy?.['spec'])).toContain('{"port":4333,"protocol":"TCP"}');
  });

  test('the API, which answers requests, gets the collector of spans and its token, and the worker does not', async () => {
    const objects = await renderFile('production-values.yaml');
    expect(settingsOf(objects, 'catalogue').traces).toEqual({
      url: new URL('https://spans.example.com:4318/v1/traces'),
      tokenFile: import.meta.filename,
    });
    expect(settingsOf(objects, 'catalogue-worker').traces).toBeUndefined();
    const volumesOf = (component: string) => podOf(objects, component).spec.volumes?.map(({ name }) => name);
    const mounts = podOf(objects, 'catalogue').spec.containers[0]?.volumeMounts?.map(({ name }) => name);
    expect(volumesOf('catalogue')).toContain('traces');
    expect(mounts).toEqual(volumesOf('catalogue'));
    expect(volumesOf('catalogue-worker')).not.toContain('traces');
    const untraced = await renderFile('retrieval-values.yaml');
    expect(settingsOf(untraced, 'catalogue').traces).toBeUndefined();
  });

  test('only the worker gets the policy for the texts of cards, its token, and the way to the runtimes', async () => {
    const objects = await renderFile('production-values.yaml');
    const [api, worker] = [podOf(objects, 'catalogue'), podOf(objects, 'catalogue-worker')];
    const volumesOf = ({ spec }: RenderedPod) => spec.volumes?.map(({ name }) => name);
    expect(volumesOf(worker)).toEqual(expect.arrayContaining(['guard', 'runtime-token']));
    expect(volumesOf(worker)).toEqual(worker.spec.containers[0]?.volumeMounts?.map(({ name }) => name));
    for (const name of ['guard', 'runtime-token']) expect(volumesOf(api)).not.toContain(name);
    const labels = Object.keys(worker.labels).filter((label) => !(label in api.labels));
    expect(labels).toHaveLength(1);
    const reaches = (name: string) =>
      JSON.stringify(ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith(name))?.['spec']);
    const runtimes = '"app.kubernetes.io/name":"portcullis-runtime"';
    expect(reaches('-catalogue-worker').includes(runtimes)).toBe(true);
    expect(reaches('-catalogue').includes(runtimes)).toBe(false);
  });

  test('the catalogue reads the profiles and issuers of the chart, and accepts the gateway as the issuer of agents', async () => {
    const objects = await renderFile('production-values.yaml');
    using folder = temporaryFolder();
    for (const map of ofKind(objects, 'ConfigMap').filter(({ metadata }) =>
      /-catalogue(-issuers)?$/.test(metadata.name),
    )) {
      for (const [name, text] of Object.entries(map['data'] as Record<string, string>)) {
        writeFileSync(join(folder.path, name), text);
      }
    }
    const profiles = await readProfiles(join(folder.path, 'models.yaml'));
    expect([...profiles.embedding.values()]).toMatchObject([{ id: 'main', dimension: 1_024, queryPrefix: 'query: ' }]);
    expect(await readIssuersFile(join(folder.path, 'issuers.yaml'))).toMatchObject([
      { audience: 'catalogue', groupsClaim: 'groups', tenantsClaim: 'tenants' },
      { issuer: 'https://gateway.example.com', audience: expect.stringMatching(/^urn:portcullis:catalogue$/) },
    ]);
  });

  verifies(
    ['catalogue:limit:one-replica'],
    'exactly one replica of the worker watches resources and sends events, however many replicas the API has',
    async () => {
      const agents = ['enabled=true', 'publicUrl=https://a.example', 'issuer=https://b.example'];
      const values = [...agents.map((one) => `--set=agents.${one}`), '--set=catalogue.enabled=true'];
      const external = ['url=postgres://u@db.example/d', 'password.existingSecret=p'];
      const outside = ['--set=postgresql.enabled=false', ...external.map((one) => `--set=externalDatabase.${one}`)];
      for (const replicas of [1, 64]) {
        const objects = await renderChart([...values, ...outside, `--set=catalogue.replicas=${replicas}`]);
        const deployments = ofKind(objects, 'Deployment').filter(({ metadata }) =>
          metadata.name.includes('-catalogue'),
        );
        expect(deployments.map(({ spec }) => spec)).toMatchObject([
          { replicas },
          { replicas: 1, strategy: { type: 'Recreate' } },
        ]);
        expect(settingsOf(objects, 'catalogue').role).toBe('api');
        expect(settingsOf(objects, 'catalogue-worker').role).toBe('worker');
      }
      await expect(renderChart([...values, '--set=catalogue.worker.replicas=2'])).rejects.toThrow(/replicas/);
    },
  );

  test('the console gets the addresses of the catalogue and of the gateway, and none without the catalogue', async () => {
    const given = (objects: readonly Rendered[]) =>
      (podOf(objects, 'console').spec.containers[0]?.env ?? [])
        .filter(({ name }) => ['PORTCULLIS_CATALOGUE_URL', 'PORTCULLIS_GATEWAY_URL'].includes(name))
        .map(({ value }) => value);
    expect(given(await renderFile('production-values.yaml'))).toEqual([
      'https://guardrails-portcullis-catalogue.safety.svc:80',
      'https://guardrails-portcullis-gateway.safety.svc:8080',
    ]);
    const console = ['enabled=true', 'url=https://a', 'oidc.issuerUrl=https://b'];
    expect(given(await renderChart(console.map((one) => `--set=console.${one}`)))).toEqual([]);
  });

  test('operator, gateways and catalogue read the rights on agents in one store', async () => {
    for (const [file, url] of [
      ['production-values.yaml', 'https://openfga.example.com'],
      ['retrieval-values.yaml', undefined],
    ] as const) {
      const objects = await renderFile(file);
      for (const component of ['operator', 'gateway', 'catalogue', 'catalogue-worker']) {
        const env = podOf(objects, component).spec.containers[0]?.env ?? [];
        const settingOf = (name: string) => env.find((one) => one.name === `PORTCULLIS_${name}`)?.value;
        const stores = [settingOf('OPENFGA_URL'), settingOf('OPENFGA_STORE'), settingOf('OPENFGA_TOKEN_FILE')];
        const expected = [url, 'guardrails', '/etc/portcullis/openfga/token'];
        expect([file, component, ...stores]).toEqual([
          ...[file, component],
          ...(url === undefined ? [undefined, undefined, undefined] : expected),
        ]);
      }
    }
  });

  test('a chart without the catalogue renders no object of it', async () => {
    const text = JSON.stringify(
      ofKind(await renderFile('default-values.yaml'), 'Deployment', 'Service', 'Role', 'Secret'),
    );
    expect(text).not.toContain('catalogue');
  });
});
