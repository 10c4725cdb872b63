import { type AgentErrorCode, agentErrors } from '#contracts/agent-errors';
import type { AgentError } from '../calls/agent-error.ts';

const infoType = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * The body of an error of A2A in the binding HTTP+JSON: an ErrorInfo for each A2A error, then one of our own. Each has the
 * stable code and the trace id (`agents:order:refusal`).
 */
export function a2aErrorBody({ code, flowCode }: Pick<AgentError, 'code' | 'flowCode'>, traceId: string): object {
  const { status, rpc, a2a, meaning } = agentErrors[code];
  const metadata = { ...errorFacts({ code, flowCode }), traceId };
  const infos = [
    ...a2a.map((reason) => ({ reason, domain: 'a2a-protocol.org' })),
    { reason: code, domain: 'portcullis' },
  ];
  const details = infos.map((info) => ({ '@type': infoType, ...info, metadata }));
  return { error: { code: status, status: rpc, message: meaning, details } };
}

/** What an answer says about an error beside its message. */
export function errorFacts({ code, flowCode }: Pick<AgentError, 'code' | 'flowCode'>): {
  readonly code: AgentErrorCode;
  readonly flowCode?: string;
} {
  return { code, ...(flowCode === undefined ? {} : { flowCode }) };
}
