import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readGatewayKeys } from '#identity/gateway-keys';
import { readIssuersFile } from '#identity/issuers-file';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readConfig } from '../../dataplane/agents/config.ts';
import { readConfig as readGatewayConfig } from '../../dataplane/gateway/config.ts';
import { makeAgentDeployment } from '../../operator/agents/adapters/deployments/resources/agent-objects.ts';
import { sampleVersion } from '../../operator/agents/testing/sample-version.ts';
import { agentTemplateOf, environmentOf } from './environment-of.ts';
import { podsOf, type RenderedPod } from './pods-of.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderChart, renderFile } from './tools/render-chart.ts';

const files = [
  ['production-values.yaml', 1_000_700_000],
  ['retrieval-values.yaml', 65_532],
] as const;
const guardrails = { input: { name: 'texts', revision: 2 }, output: 'None' } as const;
const set = [...['enabled=true', 'publicUrl=https://a.example', 'issuer=https://g.example']].map(
  (one) => `--set=agents.${one}`,
);

/** The pod of a version that names a policy, as the operator of this release makes it. */
async function podOf(objects: readonly Rendered[]): Promise<RenderedPod> {
  const request = { name: 'a-0123456789abcdef0123', resource: 'hello', bundle: await sampleVersion({ guardrails }) };
  const [pod] = podsOf([makeAgentDeployment(request, await agentTemplateOf(objects)) as unknown as Rendered]);
  if (pod === undefined) throw new Error('a Deployment without a pod');
  return pod;
}

describe('the pod of an agent', () => {
  skipWithout(missingHelm);
  test.each(files)(
    'with %s the agent pod is restricted, has a read-only root except for temporary files, no service account token, and has probes and resources',
    async (file, user) => {
      const objects = await renderFile(file);
      const { spec } = await podOf(objects);
      expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      const accounts = ofKind(objects, 'ServiceAccount').map(({ metadata }) => metadata.name);
      expect(accounts).toContain(spec.serviceAccountName);
      expect(spec.securityContext).toEqual({
        ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user },
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const [container] = spec.containers;
      expect(container?.securityContext).toEqual({
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, privileged: false },
        capabilities: { drop: ['ALL'] },
      });
      const writable = container?.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
      expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
      expect(spec.volumes?.find(({ name }) => name === 'tmp')).toMatchObject({ emptyDir: { sizeLimit: '576Mi' } });
      expect(container?.resources).toMatchObject({ requests: { cpu: expect.any(String) }, limits: {} });
      const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe];
      expect(probes.map((probe) => probe?.httpGet.path)).toEqual(['/livez', '/livez', '/readyz']);
    },
  );

  test.each(files)(
    'with %s the agent process accepts its settings in production mode, and every file that they name is mounted',
    async (file) => {
      const pod = await podOf(await renderFile(file));
      const [container] = pod.spec.containers;
      const variables = (container?.env ?? []).map(({ name, value = '' }) => [name, value] as const);
      const paths = variables.map(([, value]) => value).filter((value) => value.startsWith('/etc/'));
      // The settings are read on a machine on which none of the mounted files exists.
      const here = variables.map(([name, value]) => [name, name.endsWith('_FILE') ? import.meta.filename : value]);
      const { config } = readConfig(Object.fromEntries(here));
      expect(config).toMatchObject({
        identity: { mode: 'production' },
        services: {
          modelGateway: expect.any(URL),
          agentGateway: expect.any(URL),
          retrieval: expect.any(URL),
          memory: expect.any(URL),
        },
      });
      const mounted = (container?.volumeMounts ?? []).map(({ mountPath }) => `${mountPath}/`);
      const hasFiles = file.startsWith('production');
      expect(config.files).toEqual(
        hasFiles ? { kind: 'service', url: new URL('https://files.example.com:8443/agents') } : undefined,
      );
      expect(paths).toHaveLength(hasFiles ? 7 : 4);
      for (const path of paths) {
        expect(
          mounted.some((folder) => `${path}/`.startsWith(folder)),
          path,
        ).toBe(true);
      }
    },
  );

  test('the gateway signs with the generated key, accepts its settings, and may list routes of agents', async () => {
    using folder = temporaryFolder();
    const objects = await renderFile('retrieval-values.yaml');
    const secret = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name.endsWith('-agent-keys'));
    const { 'keys.json': encoded = '' } = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
    const file = join(folder.path, 'keys.json');
    writeFileSync(file, Buffer.from(encoded, 'base64'));
    const [key] = await readGatewayKeys(file);
    expect(key.kid).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const deployment = ofKind(objects, 'Deployment').filter(({ metadata }) => metadata.name.endsWith('-gateway'));
    const [container] = podsOf(deployment)[0]?.spec.containers ?? [];
    const here = (container?.env ?? []).map(({ name, value = 'here' }) => [
      name,
      name.endsWith('_FILE') ? file : value,
    ]);
    const { config } = readGatewayConfig(Object.fromEntries(here));
    expect(config.agents).toMatchObject({
      issuer: 'https://gateway.example.com',
      identity: { mode: 'production' },
      runs: { atOnce: 16, perMinute: 600 },
    });
    for (const service of ['retrieval', 'memory']) {
      const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith(`-${service}-issuers`));
      const path = join(folder.path, `${service}.yaml`);
      const { 'issuers.yaml': text = '' } = (map?.['data'] ?? {}) as Readonly<Record<string, string>>;
      writeFileSync(path, text);
      const gateway = (await readIssuersFile(path)).at(-1);
      expect(gateway).toMatchObject({ issuer: 'https://gateway.example.com', audience: `urn:portcullis:${service}` });
      expect(String(gateway?.jwks)).toMatch(/^http:\/\/[a-z-]+-gateway\.safety\.svc(:\d+)?\/\.well-known\/jwks\.json$/);
    }
  });

  test('image pods look up names at the pods of agents.dnsPeers, or at any pod if it is empty', async () => {
    const peers = [{ podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }];
    const given = await agentTemplateOf(
      await renderChart([...set, `--set-json=agents.dnsPeers=${JSON.stringify(peers)}`]),
    );
    const without = await agentTemplateOf(await renderChart(set));
    expect([given.dnsPeers, without.dnsPeers]).toEqual([peers, [{ namespaceSelector: {} }]]);
  });

  test('the connections of flows reach the operator and the gateway, which may connect to their ports', async () => {
    const connections = [
      { name: 'crm', kind: 'http', url: 'https://crm.example.com:8443/api', agents: ['planner'], credential: 'crm' },
    ];
    const objects = await renderChart([...set, `--set-json=agents.connections=${JSON.stringify(connections)}`]);
    expect((await environmentOf(objects)).connections).toMatchObject([{ name: 'crm', methods: ['GET'] }]);
    const deployment = ofKind(objects, 'Deployment').filter(({ metadata }) => metadata.name.endsWith('-gateway'));
    const [pod] = podsOf(deployment);
    const [container] = pod?.spec.containers ?? [];
    const file = container?.env?.find(({ name }) => name === 'PORTCULLIS_CONNECTIONS_FILE')?.value ?? '';
    const mount = container?.volumeMounts?.find(({ mountPath }) => dirname(file) === mountPath);
    expect(JSON.stringify(pod?.spec.volumes?.find(({ name }) => name === mount?.name))).toContain(
      '"key":"connections.yaml","path":"connections.yaml"',
    );
    const policy = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith('-gateway'));
    expect(JSON.stringify((policy?.['spec'] as { egress?: unknown } | undefined)?.egress)).toContain('"port":8443');
    const wrong = JSON.stringify([{ ...connections[0], agents: [] }]);
    await expect(renderChart([...set, `--set-json=agents.connections=${wrong}`])).rejects.toThrow(/agents/);
  });

  test.each([
    ['gateway.clientAuth=open', /agents\.enabled needs gateway\.clientAuth=keys/],
    ['postgresql.enabled=false', /need a database|needs a database/],
  ])('the chart refuses agents with %s', async (value, message) => {
    const without = ['--set=management.enabled=false', `--set=${value}`];
    await expect(renderChart([...set, ...without])).rejects.toThrow(message);
  });

  test('a chart without agents gives the operator no pod template for agents and creates no service account', async () => {
    const objects = await renderFile('default-values.yaml');
    expect((await environmentOf(objects)).agents).toBeUndefined();
    expect(ofKind(objects, 'ServiceAccount').some(({ metadata }) => metadata.name.endsWith('-agent'))).toBe(false);
  });

  test.each([
    ['publicUrl', /agents\.publicUrl must be set/],
    ['issuer', /agents\.issuer must be set/],
  ])('the chart refuses agents without %s, and accepts them with it', async (name, message) => {
    await expect(renderChart([...set, `--set=agents.${name}=`])).rejects.toThrow(message);
    expect(ofKind(await renderChart(set), 'ServiceAccount').length).toBeGreaterThan(0);
  });
});
