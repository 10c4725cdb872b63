import { randomBytes } from 'node:crypto';
import { bearerToken } from '#kit/http/bearer';
import { listen, type NodeHandler } from '#kit/http/listen';
import { describeFailure } from '#kit/log/describe-failure';
import type { Capability } from '../bundle/capabilities.ts';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import { AgentError } from '../calls/agent-error.ts';
import type { CallVerifier } from '../identity/call-verifier.ts';
import { confirmMessage, confirmStreaming } from './confirm-a2a.ts';
import { confirmFiles } from './confirm-files.ts';
import { confirmMcp } from './confirm-mcp.ts';
import type { Probe } from './probe.ts';

const checks: Readonly<Record<Capability, (probe: Probe) => Promise<boolean>>> = {
  'a2a.message': confirmMessage,
  'a2a.streaming': confirmStreaming,
  'mcp.tool': confirmMcp,
  files: confirmFiles,
};

/** Timeout of all checks together, milliseconds. */
const checkMs = 20_000;
const wrongAnswer = 'an answer is not the expected one';
const server = { headersTimeoutMs: 5_000, keepAliveTimeoutMs: 5_000, maxHeaderBytes: 16_384 } as const;

type ConfirmOptions = {
  readonly requested: readonly Capability[];
  /** Creates the handler of this program for an agent and a verifier, as the version will be served. */
  readonly handlerFor: (agent: LoadedAgent, verifier: CallVerifier, subject: string) => NodeHandler;
  readonly agent: LoadedAgent;
  /** A valid file reference for the agent; undefined for an agent without files. */
  readonly reference: unknown;
  readonly onUnconfirmed: OnUnconfirmed;
};

/** Called with each capability that was not confirmed. The reason quotes no user data. */
export type OnUnconfirmed = (capability: Capability, reason: string) => void;

/**
 * Confirms each requested capability by using it as a client does (`agents:card:flags`). The built-in agent is served
 * on a loopback socket that trusts a key in memory, and the socket is closed before the version is served.
 */
export async function confirmCapabilities({
  requested,
  handlerFor,
  agent,
  reference,
  onUnconfirmed,
}: ConfirmOptions): Promise<ReadonlySet<Capability>> {
  const key = randomBytes(32).toString('base64url');
  const { subject } = selfcheckSubject;
  await using socket = await listen({
    ...server,
    host: '127.0.0.1',
    port: 0,
    handler: handlerFor(agent, keyVerifier(key, subject), subject),
    onHandlerError: () => undefined,
  });
  const probe = { url: socket.url, key, reference, signal: AbortSignal.timeout(checkMs) };
  const confirmed = new Set<Capability>();
  for (const capability of requested) {
    const failure = await checks[capability](probe).then((holds) => (holds ? undefined : wrongAnswer), describeFailure);
    if (failure === undefined) confirmed.add(capability);
    else onUnconfirmed(capability, failure);
  }
  return confirmed;
}

/** The caller of the startup check. */
export const selfcheckSubject = { issuer: 'selfcheck', subject: 'selfcheck' } as const;

function keyVerifier(key: string, subject: string): CallVerifier {
  return {
    async verify(rawHeaders) {
      const bearer = bearerToken(rawHeaders);
      if (!bearer.ok || bearer.token !== key) throw new AgentError('unauthenticated');
      return {
        subject: { ...selfcheckSubject, subject },
        actors: [],
        tenant: undefined,
        exposure: 'R1' as const,
        grant: undefined,
      };
    },
  };
}
