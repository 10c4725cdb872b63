import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts, PortCall } from '#flow/engine/ports';
import type { Spans } from '#kit/trace/span';

type Port<Request, Answer> = (request: Request, call: PortCall) => Promise<Answer>;

/** The members of requests that name the called service, all of them literals of the flow. */
const targets = ['model', 'collection', 'policy', 'connection', 'server', 'agentId'] as const;

/** Records a span for each attempt of each call that leaves the process, below the span of its node. */
export function traceCalls(ports: FlowPorts, spans: Spans): FlowPorts {
  function traced<Request extends object, Answer>(name: string, port: Port<Request, Answer>): Port<Request, Answer> {
    return async (request, call) => {
      const end = spans.begin(call.trace, { name: `call ${name}`, kind: 'client' });
      const attributes = {
        'portcullis.call.caller': call.caller,
        'portcullis.call.attempt': call.attempt,
        'portcullis.call.target': targetOf(request),
      };
      try {
        const answer = await port(request, call);
        end({ attributes: { ...attributes, 'portcullis.code': 'ok' }, failed: false });
        return answer;
      } catch (error) {
        end({ attributes: { ...attributes, 'portcullis.code': codeOf(error, call.signal) }, failed: true });
        throw error;
      }
    };
  }
  return {
    model: traced('model', ports.model),
    retrieval: traced('retrieval', ports.retrieval),
    memorySearch: traced('memory search', ports.memorySearch),
    memoryAdd: traced('memory add', ports.memoryAdd),
    sessionGet: traced('session get', ports.sessionGet),
    sessionPut: traced('session put', ports.sessionPut),
    guardrail: traced('guardrail', ports.guardrail),
    http: traced('http', ports.http),
    mcp: traced('mcp', ports.mcp),
    agent: traced('agent', ports.agent),
    // The files of a run are read before the run, so that their reads have no span here.
    file: ports.file,
  };
}

function targetOf(request: object): string | undefined {
  const named = request as Readonly<Record<string, unknown>>;
  return targets.map((name) => named[name]).find((value): value is string => typeof value === 'string');
}

function codeOf(error: unknown, { aborted }: AbortSignal): string {
  if (aborted) return 'aborted';
  return error instanceof PortError ? error.code : 'internal';
}
