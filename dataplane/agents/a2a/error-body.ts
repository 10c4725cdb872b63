import { type AgentErrorCode, agentErrors } from '#contracts/agent-errors';
import type { AgentError } from '../calls/agent-error.ts';

const infoType = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * The body of an error in the HTTP+JSON binding of A2A: one ErrorInfo for each reason that A2A defines for the error,
 * then one for the code of Portcullis. Each contains the stable code and the trace id (`agents:order:refusal`).
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

/** The members of an error response in addition to its message. */
export function errorFacts({ code, flowCode }: Pick<AgentError, 'code' | 'flowCode'>): {
  readonly code: AgentErrorCode;
  readonly flowCode?: string;
} {
  return { code, ...(flowCode === undefined ? {} : { flowCode }) };
}
