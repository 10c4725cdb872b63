import { noUsage } from '#contracts/run-usage';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts, PortCall, PortName } from '../engine/ports.ts';
import type { RunEvent } from '../engine/run-events.ts';
import { type ExecutionRequest, runFlow } from '../engine/run-flow.ts';
import { loadFlow } from '../loader/load-flow.ts';

/** A call that a port got. */
type GivenCall = { readonly port: PortName; readonly request: unknown; readonly call: PortCall };

/** Ports of which a test defines some; all others are unavailable. Every call is recorded. */
export function scriptedPorts(given: Partial<FlowPorts>): { readonly ports: FlowPorts; readonly calls: GivenCall[] } {
  const calls: GivenCall[] = [];
  const names: readonly PortName[] = [
    'model',
    'retrieval',
    'memorySearch',
    'memoryAdd',
    'sessionGet',
    'sessionPut',
    'guardrail',
    'http',
    'mcp',
    'agent',
    'file',
  ];
  const ports = Object.fromEntries(
    names.map((port) => [
      port,
      async (request: never, call: PortCall) => {
        calls.push({ port, request, call });
        // A scripted agent reports no usage unless its script sets one.
        call.share?.report(noUsage);
        const answer = given[port];
        if (answer === undefined) throw new PortError('unavailable');
        return await answer(request, call);
      },
    ]),
  );
  return { ports: ports as unknown as FlowPorts, calls };
}

type RunOptions = Partial<ExecutionRequest> & { readonly signal?: AbortSignal; readonly subflow?: string };

/** Loads and runs a flow to its end. */
export async function runText(text: string, given: Partial<FlowPorts> = {}, options: RunOptions = {}) {
  const load = loadFlow(text, { subflows: () => options.subflow });
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  const { ports, calls } = scriptedPorts(given);
  const request = {
    entrypoint: 'main',
    input: {},
    context: { userId: 'ann' },
    runId: 'run',
    traceId: 'trace',
    ...options,
  };
  const events: RunEvent[] = [];
  const signal = options.signal ?? new AbortController().signal;
  for await (const event of runFlow(load.flow, request, ports, signal, { random: () => 0 })) events.push(event);
  const last = events.at(-1);
  return { events, calls, last };
}
