import { describe, expect, test } from 'vitest';
import {
  makeAgentDeployment,
  makeAgentNetworkPolicy,
} from '../../operator/agents/adapters/deployments/resources/agent-objects.ts';
import { sampleImageBundle } from '../../operator/agents/testing/sample-image.ts';
import { sampleVersion } from '../../operator/agents/testing/sample-version.ts';
import { agentTemplateOf } from './environment-of.ts';
import { podsOf, type RenderedPod } from './pods-of.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderChart, renderFile, valuesFiles } from './tools/render-chart.ts';

type Labels = Readonly<Record<string, string>>;
type Peer = { readonly podSelector?: { readonly matchLabels?: Labels }; readonly namespaceSelector?: unknown };
type Rule = {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: string | number; readonly protocol: string }[];
};
type Policy = Rendered & {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
};

const componentOf = ({ labels }: RenderedPod): string => labels['app.kubernetes.io/component'] ?? '';
const matches = (wanted: Labels = {}, { labels }: Pick<RenderedPod, 'labels'>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);
const policiesOf = (objects: readonly Rendered[]): readonly Policy[] =>
  ofKind(objects, 'NetworkPolicy') as readonly Policy[];
const portsOf = (rules: readonly Rule[]): readonly (string | number)[] =>
  [...new Set(rules.flatMap(({ ports = [] }) => ports.map(({ port }) => port)))].toSorted();

/** A pod of a workload, with the labels that the operator sets. */
const runtime = {
  labels: {
    'app.kubernetes.io/name': 'portcullis-runtime',
    'app.kubernetes.io/component': 'runtime',
    'app.kubernetes.io/part-of': 'portcullis',
    'app.kubernetes.io/managed-by': 'portcullis-operator',
  },
};

/** Whether the policies allow pods of one component to call a port of another component. */
function mayCall(objects: readonly Rendered[], from: string, to: string, port: string): boolean {
  const pods = podsOf(objects);
  const [caller, called] = [from, to].map((component) => pods.find((pod) => componentOf(pod) === component));
  if (caller === undefined || called === undefined) throw new Error(`there is no pod of ${from} or ${to}`);
  const number = called.spec.containers
    .flatMap((one) => one.ports ?? [])
    .find(({ name }) => name === port)?.containerPort;
  const names = (rule: Rule): boolean => (rule.ports ?? []).some((one) => one.port === port || one.port === number);
  const reaches = (peers: readonly Peer[] | undefined, pod: RenderedPod): boolean =>
    peers === undefined ||
    peers.some(({ podSelector, namespaceSelector }) =>
      podSelector === undefined ? namespaceSelector !== undefined : matches(podSelector.matchLabels, pod),
    );
  const of = (pod: RenderedPod) => policiesOf(objects).filter(({ spec }) => matches(spec.podSelector.matchLabels, pod));
  const leaves = of(caller).flatMap(({ spec }) => spec.egress ?? []);
  const enters = of(called).flatMap(({ spec }) => spec.ingress ?? []);
  return (
    leaves.some((rule) => names(rule) && reaches(rule.to, called)) &&
    enters.some((rule) => names(rule) && reaches(rule.from, caller))
  );
}

const isolated = valuesFiles.filter((file) => !file.startsWith('least'));

describe('networks', () => {
  skipWithout(missingHelm);
  test.each(isolated)(
    'in %s every pod of the release is isolated in both directions, and the chart selects no pod of a workload',
    async (file) => {
      const objects = await renderFile(file);
      const policies = policiesOf(objects);
      for (const { spec, metadata } of policies) expect(spec.policyTypes, metadata.name).toEqual(['Ingress', 'Egress']);
      const closing = policies.filter(({ spec }) => spec.ingress === undefined && spec.egress === undefined);
      expect(closing).toHaveLength(1);
      for (const pod of podsOf(objects)) {
        expect(matches(closing[0]?.spec.podSelector.matchLabels, pod), pod.name).toBe(true);
        expect(
          policies.filter(({ spec }) => matches(spec.podSelector.matchLabels, pod)),
          pod.name,
        ).toHaveLength(2);
      }
      for (const { spec, metadata } of policies)
        expect(matches(spec.podSelector.matchLabels, runtime), metadata.name).toBe(false);
    },
  );

  test.each(isolated)(
    'in %s operator, gateways and guarded workers reach runtimes; the example job and the test pod do not',
    async (file) => {
      const objects = await renderFile(file);
      const reaching = policiesOf(objects).filter(({ spec }) =>
        (spec.egress ?? []).some(({ to = [] }) =>
          to.some(({ podSelector }) => podSelector !== undefined && matches(podSelector.matchLabels, runtime)),
        ),
      );
      const components = reaching.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
      // In production-values.yaml served policies judge documents and cards in the workers, and memories in both roles.
      const guarded = file.startsWith('production') ? ['catalogue-worker', 'memory', 'memory-worker', 'worker'] : [];
      expect(components.toSorted()).toEqual(['gateway', 'operator', ...guarded].toSorted());
    },
  );

  test('the connections of a request are allowed, and no others', async () => {
    const objects = await renderFile('default-values.yaml');
    const open = (from: string, to: string, port: string): boolean => mayCall(objects, from, to, port);
    expect(open('test', 'gateway', 'http')).toBe(true);
    expect(open('gateway', 'echo', 'http')).toBe(true);
    expect(open('test', 'echo', 'http')).toBe(false);
    expect(open('operator', 'echo', 'http')).toBe(false);
    expect(open('operator', 'gateway', 'http')).toBe(false);
    expect(open('gateway', 'operator', 'admin')).toBe(false);
    expect(open('example', 'gateway', 'http')).toBe(false);
    expect(open('echo', 'gateway', 'http')).toBe(false);
  });

  test('callers reach the management API, and only the management API reaches its database', async () => {
    const objects = await renderFile('default-values.yaml');
    const open = (from: string, to: string, port: string): boolean => mayCall(objects, from, to, port);
    expect(open('test', 'management', 'http')).toBe(true);
    expect(open('management', 'postgres', 'postgres')).toBe(true);
    for (const other of ['operator', 'gateway', 'echo', 'example', 'test']) {
      expect(open(other, 'postgres', 'postgres'), other).toBe(false);
      expect(open(other, 'postgres', 'admin'), other).toBe(false);
    }
    expect(open('management', 'postgres', 'admin')).toBe(false);
    expect(open('management', 'gateway', 'http')).toBe(false);
    expect(open('gateway', 'management', 'http')).toBe(false);
    const policyOf = (component: string) =>
      policiesOf(objects).find(({ metadata }) => metadata.name.endsWith(`-${component}`));
    expect(policyOf('postgres')?.spec.egress).toBeUndefined();
    expect(portsOf(policyOf('postgres')?.spec.ingress ?? [])).toEqual(['admin', 'postgres']);
    expect(policyOf('management')?.spec.ingress?.[0]?.from).toBeUndefined();
  });

  test('the retrieval service reaches its database and the gateway, and only configured callers reach it', async () => {
    const objects = await renderFile('retrieval-values.yaml');
    const open = (from: string, to: string, port: string): boolean => mayCall(objects, from, to, port);
    expect(open('retrieval', 'postgres', 'postgres')).toBe(true);
    expect(open('retrieval', 'gateway', 'http')).toBe(true);
    expect(open('retrieval', 'echo', 'http')).toBe(false);
    expect(open('retrieval', 'postgres', 'admin')).toBe(false);
    expect(open('gateway', 'retrieval', 'http')).toBe(false);
    expect(open('operator', 'retrieval', 'internal')).toBe(true);
    for (const other of ['gateway', 'echo', 'example', 'test']) {
      expect(open(other, 'retrieval', 'internal'), other).toBe(false);
    }
    for (const other of ['echo', 'example', 'test']) {
      expect(open(other, 'postgres', 'postgres'), other).toBe(false);
    }
    // The database of these processes has the rights on agents; without agents neither process has a database.
    const without = await renderFile('default-values.yaml');
    for (const process of ['operator', 'gateway']) {
      expect(open(process, 'postgres', 'postgres'), process).toBe(true);
      expect(mayCall(without, process, 'postgres', 'postgres'), process).toBe(false);
    }
    const production = await renderFile('production-values.yaml');
    for (const component of ['retrieval', 'worker']) {
      expect(mayCall(production, component, 'gateway', 'http'), component).toBe(true);
    }
    expect(mayCall(production, 'test', 'retrieval', 'http')).toBe(false);
    expect(mayCall(production, 'operator', 'retrieval', 'internal')).toBe(true);
    expect(mayCall(production, 'operator', 'retrieval', 'http')).toBe(false);
  });

  test('the memory service reaches its database and the gateway, and only configured callers reach it', async () => {
    const objects = await renderFile('retrieval-values.yaml');
    const open = (from: string, to: string, port: string) => mayCall(objects, from, to, port);
    expect(open('memory', 'postgres', 'postgres')).toBe(true);
    expect(open('memory', 'gateway', 'http')).toBe(true);
    expect(open('memory', 'retrieval', 'admin')).toBe(false);
    expect(open('gateway', 'memory', 'http')).toBe(false);
    const production = await renderFile('production-values.yaml');
    expect(mayCall(production, 'test', 'memory', 'http')).toBe(false);
    for (const component of ['memory', 'memory-worker']) {
      expect(mayCall(production, component, 'gateway', 'http'), component).toBe(true);
    }
  });

  test('the console reaches only the APIs that it shows, and only configured callers reach it', async () => {
    const objects = await renderFile('production-values.yaml');
    const open = (from: string, to: string, port: string) => mayCall(objects, from, to, port);
    for (const service of ['management', 'retrieval', 'memory', 'catalogue']) {
      expect(open('console', service, 'http'), service).toBe(true);
      expect(open('console', service, 'admin'), service).toBe(false);
      expect(open(service, 'console', 'http'), service).toBe(false);
    }
    // Conversations with agents, which the console shows where the catalogue is enabled.
    expect(open('console', 'gateway', 'http')).toBe(true);
    expect(open('console', 'gateway', 'admin')).toBe(false);
    expect(open('console', 'retrieval', 'internal')).toBe(false);
    expect(open('test', 'console', 'http')).toBe(false);
    const policy = policiesOf(objects).find(({ metadata }) => metadata.name.endsWith('-console'));
    expect(portsOf(policy?.spec.egress ?? [])).toEqual([443, 53, 'http']);
  });

  test('only the worker of the catalogue reaches the API server and the webhook, and only configured callers reach the API', async () => {
    const objects = await renderFile('retrieval-values.yaml');
    const open = (from: string, to: string, port: string) => mayCall(objects, from, to, port);
    for (const component of ['catalogue', 'catalogue-worker']) {
      expect(open(component, 'postgres', 'postgres'), component).toBe(true);
      expect(open(component, 'gateway', 'http'), component).toBe(true);
      expect(open(component, 'operator', 'admin'), component).toBe(false);
      expect(open('gateway', component, 'admin'), component).toBe(false);
    }
    expect(open('gateway', 'catalogue', 'http')).toBe(false);
    const production = await renderFile('production-values.yaml');
    expect(mayCall(production, 'console', 'catalogue', 'http')).toBe(true);
    expect(mayCall(production, 'console', 'catalogue', 'admin')).toBe(false);
    expect(mayCall(production, 'catalogue', 'console', 'http')).toBe(false);
    expect(mayCall(production, 'test', 'catalogue', 'http')).toBe(false);
    const policyOf = (component: string) =>
      policiesOf(production).find(({ metadata }) => metadata.name.endsWith(`-${component}`));
    expect(policyOf('catalogue')?.spec.ingress?.[0]?.from?.[0]).toEqual({
      namespaceSelector: { matchLabels: { access: 'agents' } },
    });
    expect(portsOf(policyOf('catalogue')?.spec.egress ?? [])).toEqual([4318, 443, 53, 6432, 'http']);
    expect(portsOf(policyOf('catalogue-worker')?.spec.ingress ?? [])).toEqual(['admin']);
    expect(portsOf(policyOf('catalogue-worker')?.spec.egress ?? [])).toEqual([443, 53, 6432, 6443, 8000, 8444, 'http']);
  });

  test('gateways and the operator reach agents, and agents reach gateways, runtimes, retrieval, memory and collectors of spans only', async () => {
    const request = { name: 'a-0123456789abcdef0123', resource: 'hello', bundle: await sampleVersion() };
    for (const file of ['production-values.yaml', 'retrieval-values.yaml']) {
      const chart = await renderFile(file);
      const template = await agentTemplateOf(chart);
      const policy = makeAgentNetworkPolicy(request, template);
      const own = [makeAgentDeployment(request, template), policy];
      const objects = [...chart, ...(own as unknown as readonly Rendered[])];
      const open = (from: string, to: string, port: string) => mayCall(objects, from, to, port);
      expect(open('gateway', 'agent', 'http'), file).toBe(true);
      expect(open('gateway', 'agent', 'admin'), file).toBe(false);
      expect(open('operator', 'agent', 'http'), file).toBe(true);
      expect(open('operator', 'agent', 'admin'), file).toBe(true);
      expect(open('agent', 'gateway', 'http'), file).toBe(true);
      for (const service of ['retrieval', 'memory']) {
        expect(open('agent', service, 'http'), `${file} ${service}`).toBe(true);
        expect(open('agent', service, 'admin'), `${file} ${service}`).toBe(false);
      }
      if (file.startsWith('retrieval')) expect(open('agent', 'postgres', 'postgres'), file).toBe(false);
      expect(open('agent', 'retrieval', 'internal'), file).toBe(false);
      const ports = portsOf(policy.spec.egress);
      expect(ports, file).toEqual(file.startsWith('production') ? [4_318, 53, 8_443, 'http'] : [53, 'http']);
      expect(open('agent', 'operator', 'admin'), file).toBe(false);
      expect(open('retrieval', 'agent', 'http'), file).toBe(false);
      for (const { metadata, spec } of policiesOf(chart)) {
        const { labels } = makeAgentDeployment(request, template).spec.template.metadata;
        expect(matches(spec.podSelector.matchLabels, { labels }), metadata.name).toBe(false);
      }
    }
  });

  test('an image of an agent reaches gateways only, and only gateways and the operator reach it', async () => {
    const request = { name: 'a-0123456789abcdef0123', resource: 'helper', bundle: sampleImageBundle() };
    for (const file of ['production-values.yaml', 'retrieval-values.yaml']) {
      const chart = await renderFile(file);
      const template = await agentTemplateOf(chart);
      const policy = makeAgentNetworkPolicy(request, template);
      const own = [makeAgentDeployment(request, template), policy];
      const objects = [...chart, ...(own as unknown as readonly Rendered[])];
      const open = (from: string, to: string, port = 'http') => mayCall(objects, from, to, port);
      expect([open('gateway', 'agent'), open('operator', 'agent'), open('agent', 'gateway')], file).toEqual([
        ...[true, true, true],
      ]);
      for (const service of ['retrieval', 'memory']) {
        expect(open('agent', service), `${file} ${service}`).toBe(false);
      }
      expect([open('agent', 'operator', 'admin'), open('retrieval', 'agent')], file).toEqual([false, false]);
      expect(portsOf(policy.spec.egress), file).toEqual([53, 'http']);
    }
  });

  test('the retrieval service reaches only the ports of its configured URLs', async () => {
    const egressOf = async (...args: readonly string[]) => {
      const objects = await renderChart(['--set=retrieval.enabled=true', ...args]);
      const found = policiesOf(objects).find(({ metadata }) => metadata.name.endsWith('-retrieval'));
      return portsOf(found?.spec.egress ?? []);
    };
    const s3 = ['--set=retrieval.s3.url=https://s3.example:9000', '--set=retrieval.s3.credentials.existingSecret=k'];
    expect(await egressOf()).toEqual([53, 'http', 'postgres']);
    expect(await egressOf('--set=retrieval.nats.url=nats://n.example')).toEqual([4222, 53, 'http', 'postgres']);
    expect(await egressOf('--set=retrieval.nats.url=tls://n.example:4333', ...s3)).toEqual([
      4333,
      53,
      9000,
      'http',
      'postgres',
    ]);
    expect(
      await egressOf('--set=retrieval.relations=openfga', '--set=retrieval.openfga.url=http://fga.example:8088'),
    ).toEqual([53, 8088, 'http', 'postgres']);
    expect(await egressOf('--set=retrieval.opensearch.url=http://search.example:9200')).toEqual([
      53,
      9200,
      'http',
      'postgres',
    ]);
    const rules = '--set-json=retrieval.egress=[{"ports":[{"port":7777,"protocol":"TCP"}]}]';
    expect(await egressOf(...s3, rules)).toEqual([53, 7777, 'http', 'postgres']);
  });

  test('configured callers of the management API do not exclude the test pod', async () => {
    const objects = await renderFile('production-values.yaml');
    expect(mayCall(objects, 'test', 'management', 'http')).toBe(true);
    const management = policiesOf(objects).find(({ metadata }) => metadata.name.endsWith('-management'));
    expect(management?.spec.ingress?.[0]?.from?.[0]).toEqual({
      namespaceSelector: { matchLabels: { access: 'policies' } },
    });
  });

  test('without configured rules, the management API reaches the ports of issuers, database and OpenFGA', async () => {
    const egressOf = async (...args: readonly string[]) => {
      const objects = await renderChart(args);
      const found = policiesOf(objects).find(({ metadata }) => metadata.name.endsWith('-management'));
      return portsOf(found?.spec.egress ?? []);
    };
    const issuer = (url: string): readonly string[] => [
      '--set=management.issuers[0].issuer=a',
      '--set=management.issuers[0].audience=b',
      `--set=management.issuers[0].jwksUrl=${url}`,
    ];
    const external = (port: string): readonly string[] => [
      '--set=postgresql.enabled=false',
      `--set=externalDatabase.url=postgres://u@db.example${port}/d?sslmode=require`,
      '--set=externalDatabase.password.existingSecret=p',
    ];
    const openfga = ['--set=management.relations=openfga', '--set=management.openfga.url=http://fga.example:8088'];
    expect(await egressOf()).toEqual([443, 53, 6443, 'admin', 'postgres']);
    expect(await egressOf(...issuer('https://a.example:80/keys'))).toEqual([443, 53, 6443, 80, 'admin', 'postgres']);
    expect(await egressOf(...issuer('https://a.example:8443/keys'))).toEqual([
      443,
      53,
      6443,
      8443,
      'admin',
      'postgres',
    ]);
    expect(await egressOf(...external(''))).toEqual([443, 53, 5432, 6443, 'admin']);
    expect(await egressOf(...external(':6432'), ...openfga)).toEqual([443, 53, 6432, 6443, 8088, 'admin']);
    const rules = '--set-json=management.egress=[{"ports":[{"port":7777,"protocol":"TCP"}]}]';
    expect(await egressOf(...external(''), ...openfga, rules)).toEqual([443, 53, 6443, 7777, 'admin']);
  });

  test('configured callers of the gateway exclude other pods but not the test pod', async () => {
    const objects = await renderFile('production-values.yaml');
    expect(mayCall(objects, 'test', 'gateway', 'http')).toBe(true);
    const gateway = policiesOf(objects).find(({ metadata }) => metadata.name.endsWith('-gateway'));
    const [clients] = gateway?.spec.ingress ?? [];
    expect(clients?.from?.[0]).toEqual({ namespaceSelector: { matchLabels: { access: 'models' } } });
    const open = policiesOf(await renderFile('default-values.yaml')).find(({ metadata }) =>
      metadata.name.endsWith('-gateway'),
    );
    expect(open?.spec.ingress?.[0]?.from).toBeUndefined();
  });

  test('without configured rules, gateways reach the ports of models, the operator those of detectors, and the management API if it calls them', async () => {
    const provider = (index: number, kind: string, endpoint: string): readonly string[] =>
      [`name=p${index}`, `kind=${kind}`, `endpoint=${endpoint}`].map((one) => `--set=providers[${index}].${one}`);
    const args = [
      ...provider(0, 'model', 'https://a.example/v1'),
      '--set=providers[0].enabled=true',
      ...provider(1, 'model', 'http://b.example:11434/v1'),
      '--set=providers[1].enabled=true',
      ...provider(2, 'detector', 'http://c.example/check'),
      '--set=providers[2].credential=c',
    ];
    const egressOf = async (component: string, ...more: readonly string[]) => {
      const policies = policiesOf(await renderChart([...args, ...more]));
      return portsOf(policies.find(({ metadata }) => metadata.name.endsWith(`-${component}`))?.spec.egress ?? []);
    };
    expect(await egressOf('gateway')).toEqual([11434, 443, 53, 6443, 8000, 'http']);
    expect(await egressOf('operator')).toEqual([443, 53, 6443, 80, 8000]);
    expect(await egressOf('management')).toEqual([443, 53, 6443, 'admin', 'postgres']);
    const asking = '--set=management.asksProviders=true';
    expect(await egressOf('management', asking)).toEqual([443, 53, 6443, 80, 'admin', 'postgres']);
  });

  test('no NetworkPolicy is rendered when network policies are disabled', async () => {
    expect(policiesOf(await renderFile('least-values.yaml'))).toEqual([]);
  });
});
