import { defaultBundleLimits } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { regexEngine } from '#contracts/local-rules';
import { publishedSdkCard, readSdkCard } from '#contracts/sdk-card';
import type { Script, ScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { RoutedVersion, RouteGuardrail } from '#resources/agent-route';
import { policySection, startPolicy, termRule } from '../../testing/start-policy.ts';
import { type AgentPlaneWorld, agentId, firstVersion, routedVersion } from './start-agent-plane.ts';

/**
 * The terms of the policy that judges both directions. The policy also denies `alpha` and `omega` with up to 400 `x`
 * between them.
 */
export const terms = { denied: 'forbidden', masked: 'concealed' } as const;

const phrase = { engine: regexEngine, pattern: 'alpha(?:\\sx){0,400}\\somega', caseSensitive: true } as const;

type JudgedImage = AsyncDisposable & {
  readonly process: ScriptedHttp;
  /** Sets how the process answers calls; it serves its card and its readiness itself. */
  play(script: Script): void;
  /** Serves the image over A2A, as the tool `ask` of MCP, or over both. */
  serve(mode: 'A2A' | 'MCP' | 'both', more?: Partial<RoutedVersion>): Promise<void>;
};

const publicUrl = `https://agents.example/agents/${agentId}/versions/${firstVersion}`;
const cardPath = '/.well-known/agent-card.json';
const card = {
  name: 'Image',
  description: 'Answers as the test says.',
  version: '1',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'ask', name: 'Ask', description: 'Answers.', tags: ['test'] }],
};

/** Starts an image whose process follows a script, and a real runtime that judges its texts in both directions. */
export async function startJudgedImage(
  world: AgentPlaneWorld,
  more: Partial<Extract<RouteGuardrail, { readonly mode: 'Policy' }>> = {},
): Promise<JudgedImage> {
  await using parts = new AsyncDisposableStack();
  const rules = policySection([
    termRule('deny', [terms.denied]),
    { id: 'phrase', kind: 'regex', timeoutMs: 500, action: { type: 'deny' }, regex: phrase },
    termRule('mask', [terms.masked], { type: 'mask', replacement: '***' }),
  ]);
  const folder = parts.use(temporaryFolder()).path;
  const policy = parts.use(await startPolicy(folder, 'token', { request: rules, response: rules }));
  let script: Script = (response) => void response.end('{}');
  const process = await world.startProcess((response, request) => {
    if (request.path === '/health/ready') return response.end('{}');
    return request.path === cardPath ? response.end(JSON.stringify(card)) : script(response, request);
  });
  const { maxBodyBytes, maxMessages } = defaultBundleLimits;
  const { policyId, policyRevision, digest, addresses } = policy.pin;
  const guardrail: RouteGuardrail = {
    mode: 'Policy',
    ...{ policyId, policyRevision, digest, maxBodyBytes, maxMessages, addresses: [...addresses] },
    contentProfile: policy.contentProfile,
    streaming: 'Whole',
    deadlineMs: { request: 1_000, response: 1_000 },
    ...more,
  };
  const guardrails = { input: guardrail, output: guardrail };
  const read = readSdkCard(card);
  if (!read.ok) throw new Error(read.problem);
  const cardDigest = digestOf(publishedSdkCard(read.card, publicUrl));
  const ofMode = {
    A2A: { modes: ['A2A' as const], cardDigest, sdk: { publicUrl } },
    MCP: { modes: ['MCP' as const], sdk: { publicUrl, tool: 'ask' } },
    both: { modes: ['A2A' as const, 'MCP' as const], cardDigest, sdk: { publicUrl, tool: 'ask' } },
  };
  const owned = parts.move();
  return {
    process,
    play(next) {
      script = next;
    },
    serve: (mode, more = {}) =>
      world.serve({ versions: [routedVersion(process, { guardrails, ...ofMode[mode], ...more })] }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
