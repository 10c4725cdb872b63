import { type FlowErrorCode, flowErrors } from '#contracts/flow-errors';
import { ExpressionFault } from '../expressions/expression-fault.ts';

type Details = { readonly flowCode?: string; readonly message?: string };

/** A node or a run ended with an error. The message has words of this program and of the flow, and no text of a run. */
export class FlowError extends Error {
  readonly code: FlowErrorCode;
  /** The code of a fail node. */
  readonly flowCode: string | undefined;
  /** The path of the node where it began. */
  place: string | undefined;

  constructor(code: FlowErrorCode, { flowCode, message }: Details = {}) {
    super(message === undefined ? flowErrors[code].meaning : `${flowErrors[code].meaning} (${message})`);
    this.name = 'FlowError';
    this.code = code;
    this.flowCode = flowCode;
  }
}

/** Errors with which a port may end a call. */
export const portErrorCodes = [
  'guardrail_denied',
  'refused',
  'not_found',
  'forbidden',
  'input_required',
  'auth_required',
  'answer_invalid',
  'unavailable',
  'rate_limited',
  'file_provider_mapping_failed',
] as const satisfies readonly FlowErrorCode[];
/** `grant_ended`: the run has no right to any further call, so that no node handles this error. */
type PortErrorCode = (typeof portErrorCodes)[number] | 'grant_ended';

/** The error that a port throws. Any other error of a port ends the run as `internal`. */
export class PortError extends Error {
  readonly code: PortErrorCode;
  /** Whether it is known that the called service did nothing, so that a retry repeats no effect. */
  readonly hadNoEffect: boolean;

  constructor(code: PortErrorCode, { hadNoEffect = false }: { readonly hadNoEffect?: boolean } = {}) {
    super(flowErrors[code].meaning);
    this.name = 'PortError';
    this.code = code;
    this.hadNoEffect = hadNoEffect;
  }
}

/** Errors of the run as a whole: no node handles them, and they are not retried. */
const ending: ReadonlySet<FlowErrorCode> = new Set([
  'cancelled',
  'deadline_exceeded',
  'budget_exceeded',
  'grant_ended',
  'internal',
]);

export function endsRun({ code }: FlowError): boolean {
  return ending.has(code);
}

/** Converts any error to a FlowError; the text of an unknown error is dropped. */
export function asFlowError(error: unknown): FlowError {
  if (error instanceof FlowError) return error;
  if (error instanceof ExpressionFault) return new FlowError(error.code, { message: error.message });
  if (error instanceof DOMException && error.name === 'TimeoutError') return new FlowError('timeout');
  return new FlowError(error instanceof PortError ? error.code : 'internal');
}
