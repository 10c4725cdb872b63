import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentBundle } from '#contracts/agent-bundle';
import { defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import type { Definition } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import type { ServedTarget } from '#contracts/served-target';
import { createLogger } from '#kit/log/logger';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { sampleBundle } from '../../../e2e/support/sample-policy.ts';
import { startTestRuntime } from '../../../e2e/support/start-test-runtime.ts';
import type { AgentConfig } from '../config.ts';
import type { FileTimes } from '../files/call-files.ts';
import { createAgentService } from '../service.ts';

export const policyName = 'texts';

type AgentOptions = {
  /** The content of the bundle file; undefined for no file. */
  readonly bundle: AgentBundle | string | undefined;
  readonly config?: Partial<Omit<AgentConfig, 'services'>>;
  readonly services?: Partial<AgentConfig['services']>;
  /** Starts the real runtime with this policy, under the name `texts` and revision 1. */
  readonly policy?: Definition;
  /** Whether the policy judges streamed text in windows; true if absent. */
  readonly windows?: ServedTarget['streaming'];
  /** Members of the served target of the policy that replace the default members. */
  readonly target?: Partial<ServedTarget>;
  readonly modelGatewayToken?: string;
  readonly fileServiceToken?: string;
  readonly unwatchedMs?: number;
  readonly fileTimes?: FileTimes;
  readonly policyProbeMs?: number;
  readonly pauses?: NonNullable<Parameters<typeof createAgentService>[2]>['pauses'];
  readonly checkedHandler?: NonNullable<Parameters<typeof createAgentService>[2]>['checkedHandler'];
  /** Receives the log lines of level info. */
  readonly log?: (line: string) => void;
};

export type RunningAgent = AsyncDisposable & {
  readonly url: string;
  readonly adminUrl: string;
  /** The file that the process has read. */
  readonly bundleFile: string;
  /** The file with the target of the policy; undefined without a policy. */
  readonly targetFile: string | undefined;
  /** Ends the runtime of the policy. */
  endRuntime(): Promise<void>;
  /** Sends one request as the user `ann`, with A2A-Version. A header with an empty value is not sent. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<AgentAnswer>;
};

type AgentAnswer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly json: Json };
type Json = Readonly<Record<string, unknown>>;

/** Starts the service of one version in this process, with the real runtime if a policy is given. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const { bundle, policy, unwatchedMs, fileTimes, policyProbeMs, pauses, checkedHandler, log } = options;
  const bundleFile = join(folder, 'agent.json');
  if (bundle !== undefined) await writeFile(bundleFile, typeof bundle === 'string' ? bundle : JSON.stringify(bundle));
  const tokenFile = async (name: string, token: string): Promise<string> => {
    await writeFile(join(folder, name), `${token}\n`);
    return join(folder, name);
  };
  const runtimeTokenFile = policy === undefined ? undefined : await tokenFile('runtime.token', 'runtime-token');
  const targets = policy === undefined ? undefined : join(folder, 'targets');
  const targetFile = targets === undefined ? undefined : join(targets, `${policyName}.json`);
  let endRuntime = async (): Promise<void> => undefined;
  if (policy !== undefined && targets !== undefined && runtimeTokenFile !== undefined) {
    const policies = sampleBundle(policy);
    await writeFile(join(folder, 'policy.json'), canonicalBytes(policies));
    const runtime = parts.use(await startTestRuntime(join(folder, 'policy.json'), runtimeTokenFile));
    endRuntime = async () => void (await runtime.end());
    await mkdir(targets);
    const target: ServedTarget = {
      addresses: [runtime.url],
      policyId: 'sample',
      policyRevision: '1',
      bundleDigest: digestOf(policies),
      contentProfile: currentProfile,
      maxBodyBytes: defaultBundleLimits.maxBodyBytes,
      maxMessages: defaultBundleLimits.maxMessages,
      deadlineMs: { request: policy.request.deadlineMs, response: policy.response.deadlineMs },
      division: { allowed: true },
      streaming: options.windows ?? { allowed: true },
      ...options.target,
    };
    if (targetFile !== undefined) await writeFile(targetFile, JSON.stringify(target));
  }
  const { modelGatewayToken } = options;
  const service = parts.use(
    await createAgentService(
      {
        bundleFile,
        host: '127.0.0.1',
        port: 0,
        adminPort: 0,
        identity: { mode: 'development' },
        services: {
          modelGateway: undefined,
          agentGateway: undefined,
          retrieval: undefined,
          memory: undefined,
          ...options.services,
        },
        policyTargets: targets,
        files: undefined,
        mcpConfirmers: ['development:agents|ann'],
        traces: undefined,
        logLevel: 'error',
        ...options.config,
      },
      {
        runtimeTokenFile,
        modelGatewayTokenFile:
          modelGatewayToken === undefined ? undefined : await tokenFile('gateway.token', modelGatewayToken),
        fileServiceTokenFile:
          options.fileServiceToken === undefined ? undefined : await tokenFile('files.token', options.fileServiceToken),
      },
      {
        idleMs: 0,
        ...(unwatchedMs === undefined ? {} : { unwatchedMs }),
        ...(fileTimes === undefined ? {} : { fileTimes }),
        ...(policyProbeMs === undefined ? {} : { policyProbeMs }),
        ...(pauses === undefined ? {} : { pauses }),
        ...(checkedHandler === undefined ? {} : { checkedHandler }),
        ...(log === undefined
          ? {}
          : { logger: createLogger({ service: 'agent', level: 'info', destination: { write: log } }) }),
      },
    ),
  );
  const { url, adminUrl } = service;
  const owned = parts.move();
  return {
    url,
    adminUrl,
    bundleFile,
    targetFile,
    endRuntime,
    async call(method, path, body, headers = {}) {
      const usual = {
        'a2a-version': '1.0',
        'x-user-id': 'ann',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const sent = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== '');
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: parsed(text) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

/** A message of A2A with these parts. */
export function messageOf(...parts: readonly object[]): object {
  return { message: { messageId: 'm-1', role: 'ROLE_USER', parts } };
}

/** The stable code in the body of an error of A2A. */
export function errorCodeOf({ json }: Pick<AgentAnswer, 'json'>): unknown {
  const error = json['error'] as { details?: { metadata?: { code?: unknown } }[] } | undefined;
  return error?.details?.[0]?.metadata?.code;
}

/** The events of a stream, without comments. */
export function streamEventsOf({ text }: Pick<AgentAnswer, 'text'>): readonly Json[] {
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Json);
}
