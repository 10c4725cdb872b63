import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import type { GatewayReportSpec } from '#resources/gateway-report';
import type { AgentsConfig } from '../agents-config.ts';
import type { AgentIssuer, GatewayConfig } from '../config.ts';
import { createGatewayService, type GatewayOverrides, type GatewayService } from '../service.ts';
import { type HandSource, handSource } from './route-builder.ts';

/** A gateway in the test's process, with routes that the test writes. */
export type TestGateway = AsyncDisposable & {
  readonly service: GatewayService;
  readonly routes: HandSource;
  /** Every report that the gateway wrote, oldest first. */
  readonly reports: readonly GatewayReportSpec[];
  /** The lines that the gateway wrote to its log. */
  readonly log: () => string;
  readonly keysFile: string;
  readonly secretsDirectory: string;
};

export const clientKey = 'pk-test-client-key';

export async function startGateway(
  folder: string,
  runtimeToken: string,
  overrides: GatewayOverrides & {
    readonly open?: boolean;
    readonly agents?: AgentIssuer;
    readonly served?: AgentsConfig;
  } = {},
): Promise<TestGateway> {
  const keysFile = join(folder, 'client.keys');
  const runtimeTokenFile = join(folder, 'gateway-runtime.token');
  const secretsDirectory = join(folder, 'secrets');
  await mkdir(secretsDirectory, { recursive: true });
  await writeFile(keysFile, `${clientKey} tests\nother-key second\n`);
  await writeFile(runtimeTokenFile, `${runtimeToken}\n`);
  const agents = overrides.agents === undefined ? {} : { agents: overrides.agents };
  const routes = handSource();
  const reports: GatewayReportSpec[] = [];
  const lines: string[] = [];
  const config: GatewayConfig = {
    api: { url: new URL('http://127.0.0.1:1'), tokenFile: runtimeTokenFile, caFile: undefined, namespace: 'default' },
    gateway: 'default',
    replica: 'gateway-test',
    podUid: undefined,
    listen: { host: '127.0.0.1', port: 0 },
    adminListen: { host: '127.0.0.1', port: 0 },
    clients: overrides.open === true ? { auth: 'open' } : { auth: 'keys', keysFile, ...agents },
    ...(overrides.served === undefined ? {} : { agents: overrides.served }),
    maxRequestMs: 60_000,
    maxChecksPerAddress: 32,
    streamIdleMs: 30_000,
    maxHeldBytes: 256 * 1_048_576,
    logLevel: 'info',
  };
  const { open: _, agents: __, served: ___, ...rest } = overrides;
  const service = await createGatewayService(
    config,
    { runtimeTokenFile, credentialsDirectory: secretsDirectory },
    {
      routes: routes.open,
      reports: { write: async (report) => void reports.push(report) },
      logger: createLogger({ service: 'gateway', level: 'info', destination: { write: (line) => lines.push(line) } }),
      idleMs: 0,
      ...rest,
    },
  );
  return {
    service,
    routes,
    reports,
    log: () => lines.join(''),
    keysFile,
    secretsDirectory,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Waits until the gateway reports that it is ready. */
export async function ready({ service, routes }: TestGateway): Promise<void> {
  routes.complete();
  await until('the gateway is ready', () => service.isReady());
}

/** Waits until the gateway serves the aliases, whose routes it probes first. */
export async function served({ service }: TestGateway, aliases: readonly string[]): Promise<void> {
  await until(`the gateway serves ${aliases.join(', ')}`, async () => {
    const answer = await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${clientKey}` } });
    const { data } = (await answer.json()) as { data: readonly { id: string }[] };
    const names = new Set(data.map(({ id }) => id));
    return aliases.every((alias) => names.has(alias));
  });
}
