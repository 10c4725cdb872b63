import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import { ensureGatewayKeys } from '#identity/gateway-keys';
import { createTestKey, startJwksServer, type TestKey } from '#identity/testing/test-issuer';
import { type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { type AgentRoute, type AgentRouteSpec, agentRouteFormat, type RoutedVersion } from '#resources/agent-route';
import { apiVersion } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { GatewayOverrides } from '../../service.ts';
import { handSource } from '../../testing/route-builder.ts';
import { startGateway, type TestGateway } from '../../testing/start-gateway.ts';
import type { RunBudgets } from '../budgets/ports.ts';

export const gatewayIssuer = 'https://gateway.example';
export const peopleIssuer = 'https://people.example';
export const agentId = '01890a5d-ac96-774b-bcce-b302099a8061';
export const [firstVersion, secondVersion] = [
  '01890a5d-ac96-774b-bcce-b302099a8062',
  '01890a5d-ac96-774b-bcce-b302099a8063',
];

type SentRequest = {
  readonly token?: string | undefined;
  readonly method?: string;
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

export type AgentPlaneWorld = AsyncDisposable & {
  readonly url: string;
  readonly gateway: TestGateway;
  readonly signingKeysFile: string;
  /** The file of connections, which the gateway follows. */
  readonly connectionsFile: string;
  /** The folder of credentials. */
  readonly secretsDirectory: string;
  readonly peopleKey: TestKey;
  /** The rights that `check` knows, as `subject relation object`; every question is recorded in `asked`. */
  readonly rights: Set<string>;
  readonly asked: string[];
  /** While this error is set, every question about rights fails with it. */
  fault: Error | undefined;
  /** While this function is set, every question about rights waits for it. */
  whileAsked: (() => Promise<void>) | undefined;
  allow(subject: string, relation: 'invoke' | 'view' | 'owner', agent?: string): void;
  personToken(subject: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts a scripted server that replaces the process of a version. */
  startProcess(script?: Script): Promise<ScriptedHttp>;
  /** Writes a route and waits until the gateway has loaded it. */
  serve(spec: Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'versions'>, name?: string): Promise<void>;
  /** Writes a route with a version that the gateway cannot prove, and waits until it reports that the route is pending. */
  announce(spec: Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'versions'>, name?: string): Promise<void>;
  /** Removes a route; the gateway has dropped it when this returns. */
  removeRoute(name?: string): void;
  call(path: string, request: SentRequest): Promise<Response>;
};

/** A routed version without a card, so that only its readiness is proved. */
export function routedVersion(process: Pick<ScriptedHttp, 'url'>, more: Partial<RoutedVersion> = {}): RoutedVersion {
  return {
    versionId: firstVersion,
    version: 'v1',
    modes: ['MCP'],
    address: process.url,
    requires: [],
    limits: {
      requestBytes: 16_384,
      timeoutMs: 20_000,
      concurrency: 4,
      budget: { nodes: 10, modelTokens: 1_000, outputBytes: 10_000 },
    },
    ...more,
  };
}

/** An agent plane with OIDC, in the process of the test; rights are a set unless a store of them is given. */
export async function startAgentPlane(
  runs: { readonly atOnce: number; readonly perMinute: number } = { atOnce: 16, perMinute: 10_000 },
  connections: readonly object[] = [],
  budgets?: RunBudgets,
  stored?: Pick<Relations, 'check' | 'checkerOf'>,
  bounds: Pick<
    GatewayOverrides,
    'maxBodyMs' | 'clientIdleMs' | 'maxHeldBytes' | 'heldWaitMs' | 'rightsAgeMs' | 'requestClock'
  > = {},
): Promise<AgentPlaneWorld> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const peopleKey = await createTestKey('ES256', 'people-1');
  const issuer = parts.use(await startJwksServer(peopleKey));
  const signingKeysFile = join(folder, 'signing.json');
  await ensureGatewayKeys(signingKeysFile);
  const keysFile = join(folder, 'gateway.jwks');
  await writeFile(keysFile, JSON.stringify(await openGatewayKeyRing(signingKeysFile).publicKeySet()));
  const issuersFile = join(folder, 'issuers.yaml');
  const trusted = { issuer: peopleIssuer, audience: 'agents', jwksUrl: issuer.url.href, tenantsClaim: 'tenants' };
  await writeFile(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const connectionsFile = join(folder, 'connections.yaml');
  await writeFile(connectionsFile, JSON.stringify({ connections }));
  const rights = new Set<string>();
  const asked: string[] = [];
  const world: Pick<AgentPlaneWorld, 'fault' | 'whileAsked'> = { fault: undefined, whileAsked: undefined };
  const check: Relations['check'] = async (subject, relation, object, claimed = []) => {
    asked.push(`${relation} ${object}`);
    await world.whileAsked?.();
    if (world.fault !== undefined) throw world.fault;
    return [subject, ...claimed.map((group) => `${group}#member`)].some((one) =>
      rights.has(`${one} ${relation} ${object}`),
    );
  };
  const agentRoutes = handSource<AgentRoute>();
  const gateway = parts.use(
    await startGateway(folder, 'token', {
      agentRoutes: agentRoutes.open,
      rights: stored ?? {
        check,
        checkerOf:
          (subject, claimed) =>
          (...question) =>
            check(subject, ...question, claimed),
      },
      agents: { issuer: gatewayIssuer, keysFile },
      ...(budgets === undefined ? {} : { budgets }),
      ...bounds,
      served: {
        issuer: gatewayIssuer,
        signingKeysFile,
        identity: { mode: 'production', issuersFile },
        rights: {
          databaseUrl: 'postgres://unused',
          databasePasswordFile: issuersFile,
          relations: { kind: 'postgres' },
          openFgaTokenFile: undefined,
        },
        confirmers: [`${peopleIssuer}|ann`],
        connectionsFile,
        runs,
        budgets: undefined,
      },
    }),
  );
  gateway.routes.complete();
  agentRoutes.complete();
  await until('the gateway is ready', () => gateway.service.isReady());
  const { url } = gateway.service;
  let version = 0;
  const put = (spec: Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'versions'>, name: string): string => {
    version += 1;
    const resourceVersion = String(version);
    const route: Stored<AgentRoute> = {
      apiVersion,
      kind: 'AgentRoute',
      metadata: {
        name,
        uid: `uid-${name}`,
        resourceVersion,
        generation: version,
        creationTimestamp: '2026-01-02T03:04:05Z',
      },
      spec: {
        formatVersion: agentRouteFormat,
        agentId,
        agent: { name, uid: agentId },
        served: spec.versions[0]?.versionId,
        cards: 'View',
        exposure: 'R2',
        ...spec,
      },
    };
    agentRoutes.put(route);
    return resourceVersion;
  };
  const started = parts.use(new AsyncDisposableStack());
  const owned = parts.move();
  return Object.assign(world, {
    url,
    gateway,
    signingKeysFile,
    connectionsFile,
    secretsDirectory: join(folder, 'secrets'),
    peopleKey,
    rights,
    asked,
    allow(subject: string, relation: 'invoke' | 'view' | 'owner', agent = agentId) {
      rights.add(`${userSubject({ issuer: peopleIssuer, subject })} ${relation} agent:${agent}`);
    },
    personToken: (subject: string, more: Readonly<Record<string, unknown>> = {}) =>
      new SignJWT({ iss: peopleIssuer, aud: 'agents', sub: subject, ...more })
        .setProtectedHeader({ alg: 'ES256', kid: peopleKey.kid })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(peopleKey.privateKey),
    async startProcess(script: Script = (response) => void response.end('{}')) {
      return started.use(await startScriptedHttp(script));
    },
    async serve(spec: Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'versions'>, name = 'question') {
      const own = Number(put(spec, name));
      await until(`the gateway reports the route ${name}`, () => {
        const agents = gateway.reports.at(-1)?.agents;
        return Number(agents?.appliedThrough) >= own && agents?.pending.length === 0;
      });
    },
    async announce(spec: Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'versions'>, name = 'question') {
      const own = put(spec, name);
      await until(
        `the route ${name} is pending`,
        () => gateway.reports.at(-1)?.agents?.pending.some((one) => one.version === own) === true,
      );
    },
    removeRoute(name = 'question') {
      agentRoutes.remove(name);
    },
    async call(path: string, { token, method = 'POST', body, headers = {} }: SentRequest) {
      return await fetch(`${url}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}
