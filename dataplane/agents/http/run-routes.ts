import { callerKey } from '../calls/agent-call.ts';
import { AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import type { AgentServer } from './agent-server.ts';
import { answerA2a, type Exchange, refuseA2a } from './exchange.ts';

/** Whose runs are read: the runs of the caller, or all runs, which only the owner of the agent may read. */
type RunRoute = { readonly operation: 'runs:own' | 'runs:all'; readonly runId: string | undefined };

const form = /^\/runs\/(own|all)(?:\/([0-9a-f-]{36}))?$/;

/** The route of a path; undefined if the path is not a path of runs. */
export function runRouteOf(pathname: string): RunRoute | undefined {
  const found = form.exec(pathname);
  return found === null ? undefined : { operation: found[1] === 'all' ? 'runs:all' : 'runs:own', runId: found[2] };
}

/**
 * Answers GET /runs/own, GET /runs/all, and one run of each. The operation is in the token of the gateway, which has
 * checked the right; no header chooses the operation. @returns the error of a refused read
 */
export async function answerRunRoute(
  { verifier, runs }: AgentServer,
  exchange: Exchange,
  { operation, runId }: RunRoute,
): Promise<AgentError | undefined> {
  try {
    const { rawHeaders } = exchange.incoming;
    const identity = await atStep('identity', () => verifier.verify(rawHeaders, operation));
    const all = operation === 'runs:all';
    const caller = all ? undefined : callerKey(identity);
    if (runId === undefined) {
      const listed = runs.list(caller).map(({ nodes: _, omittedNodes: __, ...run }) => run);
      answerA2a(exchange, 200, { all, runs: listed });
      return undefined;
    }
    const found = await atStep('files', () => {
      const run = runs.get(runId, caller);
      if (run === undefined) throw new AgentError('run_not_found');
      return run;
    });
    answerA2a(exchange, 200, found);
    return undefined;
  } catch (thrown) {
    const error = asAgentError(thrown);
    refuseA2a(exchange, error);
    return error;
  }
}
