import { type AgentErrorCode, agentErrors } from '#contracts/agent-errors';
import type { FlowErrorCode } from '#contracts/flow-errors';
import type { RefusingStep } from './call-steps.ts';

/** A refused or failed call. The message is a fixed text of this program (`agents:order:refusal`). */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  /** Code of the flow error that ended the run. */
  readonly flowCode: FlowErrorCode | undefined;
  /** The step that refused; undefined outside of the steps. */
  step: RefusingStep | undefined;

  constructor(code: AgentErrorCode, flowCode?: FlowErrorCode) {
    super(agentErrors[code].meaning);
    this.name = 'AgentError';
    this.code = code;
    this.flowCode = flowCode;
  }
}

/** Converts any error to an AgentError; the text of other errors is dropped (`agents:error:no-raw-exception`). */
export function asAgentError(error: unknown): AgentError {
  return error instanceof AgentError ? error : new AgentError('internal');
}

/** Runs one step; a refusal contains the name of the step. @throws AgentError */
export async function atStep<T>(step: RefusingStep, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = asAgentError(thrown);
    error.step ??= step;
    throw error;
  }
}
