import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentBundle } from '#contracts/agent-bundle';
import { defaultBundleLimits } from '#contracts/bundle';
import type { ServedTarget } from '#contracts/served-target';
import { createTestKey, type TestKey } from '#identity/testing/test-issuer';
import { mintWorkloadToken } from '#identity/workload-token';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { alias, type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

const gatewayIssuer = 'https://gateway.example';
const person = { issuer: 'https://people.example', subject: 'ann' };

export type AgentProcess = AsyncDisposable & {
  readonly agent: RunningProcess;
  readonly platform: GuardedGateway;
  /** A token of the gateway for one call of this version by `ann`. */
  token(operation: string, more?: Partial<Parameters<typeof mintWorkloadToken>[0]>): Promise<string>;
  /** Sends a request as the gateway does: to the address of the process, with a token for the operation of the path. */
  readonly gatewayFetch: typeof fetch;
};

/** The process of a version with a real model gateway, a real runtime and a signing key of the agent gateway. */
export async function startAgentProcess(
  bundleOf: (model: string, policy: AgentBundle['guardrails']['input']) => AgentBundle,
): Promise<AgentProcess> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const platform = parts.use(await startGuardedGateway());
  const key: TestKey = await createTestKey('EdDSA', 'gateway-1');
  const { guardrail } = platform.route;
  if (guardrail.mode !== 'Policy') throw new Error('the gateway of the test has a policy');
  const file = (name: string, content: unknown): string => {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return join(folder, name);
  };
  const { policyId, policyRevision, digest, addresses, deadlineMs } = guardrail;
  const target: ServedTarget = {
    addresses: [...addresses],
    policyId,
    policyRevision,
    bundleDigest: digest,
    contentProfile: platform.route.contentProfile,
    maxBodyBytes: defaultBundleLimits.maxBodyBytes,
    maxMessages: defaultBundleLimits.maxMessages,
    deadlineMs,
    division: { allowed: true },
    streaming: { allowed: true },
  };
  mkdirSync(join(folder, 'targets'));
  file('targets/texts.json', target);
  const bundle = bundleOf(alias, { name: 'texts', revision: Number(policyRevision) });
  const agent = parts.use(
    await startProcess({
      file: 'dataplane/agents/main.ts',
      environment: {
        PORTCULLIS_AGENT_BUNDLE: file('agent.json', bundle),
        PORTCULLIS_IDENTITY: 'production',
        PORTCULLIS_GATEWAY_ISSUER: gatewayIssuer,
        PORTCULLIS_GATEWAY_KEYS_FILE: file('jwks.json', { keys: [key.jwk] }),
        PORTCULLIS_MODEL_GATEWAY_URL: platform.url,
        PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: file('gateway.key', `${platform.key}\n`),
        PORTCULLIS_POLICY_TARGETS_DIR: join(folder, 'targets'),
        PORTCULLIS_RUNTIME_TOKEN_FILE: file('runtime.token', `${platform.runtimeToken}\n`),
        PORTCULLIS_MCP_CONFIRMERS: `${person.issuer}|${person.subject}`,
      },
    }),
  );
  const { agentId, versionId, publicUrl } = bundle;
  const token: AgentProcess['token'] = (operation, more = {}) =>
    mintWorkloadToken({
      key,
      issuer: gatewayIssuer,
      agentId,
      versionId,
      subject: person,
      actors: [],
      operation,
      ...more,
    });
  const owned = parts.move();
  return {
    agent,
    platform,
    token,
    async gatewayFetch(input, init = {}) {
      const url = new URL(String(input instanceof Request ? input.url : input).replace(publicUrl, agent.url));
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${await token(operationOf(init.method ?? 'GET', url.pathname))}`);
      return await fetch(url, { ...init, headers });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The operation of a path, under its name in tokens. */
function operationOf(method: string, path: string): string {
  if (path === '/message:send' || path === '/message:stream') return path.slice(1);
  if (path === '/mcp') return 'mcp';
  if (path === '/extendedAgentCard') return 'card:extended';
  if (path === '/tasks') return 'tasks:list';
  if (path.includes('/pushNotificationConfigs')) return 'tasks:push';
  const verb = /:(cancel|subscribe)$/.exec(path)?.[1];
  return verb === undefined && method === 'GET' ? 'tasks:get' : `tasks:${verb}`;
}
