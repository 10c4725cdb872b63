import { randomBytes, randomUUID } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { evaluateCase } from '#flow/cases/evaluate-case';
import type { JudgedCase } from '#flow/cases/evaluation-schema';
import { loadEvaluation } from '#flow/cases/load-evaluation';
import type { FlowResult, RunEvent } from '#flow/engine/run-events';
import { type ExecutionRequest, runFlow } from '#flow/engine/run-flow';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import { textMemberOf } from '#flow/loader/text-member';
import type { JsonValue } from '#kit/json/json-value';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import type { FilePaths } from '../options/file-path.ts';
import { formatOf, isForPeople, type OutputOptions, writeResult } from '../output/format.ts';
import { escapeControls, tableOf } from '../output/write.ts';
import { readInputFiles } from './given-files.ts';
import { openPlatformPorts } from './platform-ports.ts';
import { type FlowFile, readFlowFile, readTextFile } from './read-flow-file.ts';
import { valueOrRefusal } from './refuse-file.ts';
import { type CalledBeside, refuseUnreachable } from './refuse-unreachable.ts';
import { openRunTarget, type TargetOptions } from './run-target.ts';

type CallingOptions = OutputOptions &
  TargetOptions & {
    readonly subflows?: string;
    readonly session?: string;
    readonly timeout: number;
    readonly allowUnreachable?: boolean;
  };
export type RunOptions = CallingOptions & {
  readonly message?: string;
  readonly input?: Readonly<Record<string, JsonValue>>;
  readonly file?: FilePaths;
  readonly entrypoint?: string;
};
export type EvaluateOptions = CallingOptions & { readonly cases?: string; readonly minScore: number };

type NodeEnd = Extract<RunEvent, { readonly type: 'nodeEnded' }>;
type Failure = Extract<RunEvent, { readonly type: 'failed' }>;

/**
 * Runs a flow in this process against the running platform, prints each node when it ends, and the result.
 * @throws CliError usage, not_running, guardrail_blocked, failed with the code of the flow
 */
export async function runFlowFile(path: string, options: RunOptions): Promise<void> {
  const flow = valueOrRefusal(readFlowFile(path, options.subflows), options);
  const { entrypoint = Object.keys(flow.source.entrypoints)[0] ?? '' } = options;
  if (!Object.hasOwn(flow.source.entrypoints, entrypoint)) {
    throw new CliError('usage', `The flow has no entry point ${entrypoint}.`);
  }
  const { input, file } = await readInputFiles(flow, inputOf(flow, options), options.file ?? {});
  await using calls = await openCalls(flow, [entrypoint], options);
  const request = { ...calls.request, entrypoint, input };
  const isText = isForPeople(formatOf(options));
  const nodes: NodeEnd[] = [];
  let end: FlowResult | Failure | undefined;
  for await (const event of runFlow(flow, request, { ...calls.ports, file }, calls.signal)) {
    if (event.type === 'nodeEnded') {
      nodes.push(event);
      if (isText) writeTrace(traceLine(event));
    } else if (event.type === 'text' && isText) writeTrace(`  ${event.node}: ${event.text}`);
    else if (event.type === 'result') end = event.result;
    else if (event.type === 'failed') end = event;
  }
  const trace = nodes.map(({ path: at, kind, outcome, attempts, durationMs }) => {
    return { path: at, kind, outcome, attempts, durationMs };
  });
  const facts = { runId: request.runId, traceId: request.traceId, nodes: trace };
  if (end === undefined || 'type' in end) {
    if (!isText) writeResult(formatOf(options), { ...facts, error: end?.code ?? 'internal' }, () => '');
    throw failureOf(end, calls.remedies);
  }
  const result = end;
  const shown = { ...(result.text === undefined ? {} : { text: result.text }), ...dataOf(result) };
  writeResult(formatOf(options), { ...facts, result: shown }, () => textOf(result));
}

/**
 * Runs the judged cases of a flow against the running platform, one after another, and prints their scores.
 * @throws CliError tests_failed if the mean is below --min-score
 */
export async function evaluateFlowFile(path: string, options: EvaluateOptions): Promise<void> {
  const flow = valueOrRefusal(readFlowFile(path, options.subflows), options);
  const casesPath = options.cases ?? join(dirname(path), 'eval.yaml');
  const cases = valueOrRefusal(casesOf(casesPath, flow), options);
  const inputs = [];
  for (const { input, files = {} } of cases) {
    const paths = Object.entries(files).map(([member, file]) => [member, resolve(dirname(casesPath), file)] as const);
    inputs.push(await readInputFiles(flow, input, Object.fromEntries(paths)));
  }
  const [first = ''] = Object.keys(flow.source.entrypoints);
  const entrypoints = [...new Set(cases.map((one) => one.entrypoint ?? first))];
  await using calls = await openCalls(flow, entrypoints, options, judgesOf(cases));
  const ends: Awaited<ReturnType<typeof evaluateCase>>[] = [];
  for (const [at, { input, file }] of inputs.entries()) {
    const request = { ...calls.request, runId: randomUUID() };
    const ports = { ...calls.ports, file };
    ends.push(await evaluateCase(flow, { ...(cases[at] as JudgedCase), input }, { ...calls, ports, request }));
  }
  for (const remedy of new Set(calls.remedies.values())) writeTrace(`portcullis: ${remedy}`);
  const score = ends.reduce((sum, one) => sum + one.score, 0) / ends.length;
  writeResult(formatOf(options), { score, cases: ends }, () => {
    const rows = ends.map(({ name, score: own, durationMs, problems }) => [
      own.toFixed(2),
      durationMs.toFixed(0),
      [name, ...problems].join(': '),
    ]);
    return `${tableOf([['SCORE', 'MS', 'CASE'], ...rows])}\nMean ${score.toFixed(2)} of ${ends.length} cases.`;
  });
  if (score >= options.minScore) return;
  throw new CliError('tests_failed', `${path}: the mean ${score.toFixed(2)} is below ${options.minScore}.`);
}

/** The models that judge cases, each with the first case that it judges. */
function judgesOf(cases: readonly JudgedCase[]): readonly CalledBeside[] {
  const named = new Map<string, string>();
  for (const { name, judge } of cases) if (judge !== undefined && !named.has(judge.model)) named.set(judge.model, name);
  return [...named].map(([name, one]) => ({
    caller: `the judge of the case "${one}"`,
    needs: { kind: 'model', name },
  }));
}

function casesOf(path: string, flow: LoadedFlow): FlowFile<readonly JudgedCase[]> {
  const load = loadEvaluation(readTextFile(path), flow);
  return load.ok ? { ok: true, value: load.cases } : { ok: false, file: path, problems: load.problems };
}

/**
 * The requirements of runs: ports to the services of the platform, the identity of the caller, and a signal that Ctrl-C
 * aborts.
 * @param beside what is called in addition to the nodes of the flow
 * @throws CliError usage if the flow names a dependency that a run cannot call
 */
async function openCalls(
  flow: LoadedFlow,
  entrypoints: readonly string[],
  options: CallingOptions,
  beside: readonly CalledBeside[] = [],
) {
  const target = await openRunTarget(options);
  const { person, tenant } = target;
  await using parts = new AsyncDisposableStack();
  const { ports, remedies, remedyFor } = parts.use(openPlatformPorts(target));
  if (options.allowUnreachable !== true) refuseUnreachable(flow, entrypoints, remedyFor, options, beside);
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  parts.defer(() => void process.off('SIGINT', onInterrupt));
  const request: Omit<ExecutionRequest, 'entrypoint' | 'input'> = {
    context: {
      userId: person.subject,
      userIssuer: person.issuer,
      actors: [],
      ...(tenant === undefined ? {} : { tenantId: tenant }),
      sessionId: options.session ?? randomUUID(),
      agentId: flow.source.metadata.flowId,
      versionId: flow.sha256,
    },
    runId: randomUUID(),
    traceId: randomBytes(16).toString('hex'),
    budget: { timeoutMs: options.timeout * 1_000 },
  };
  const owned = parts.move();
  return { ports, remedies, request, signal: interrupt.signal, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A text becomes the value of the input member that receives the message text of a client. */
function inputOf(flow: LoadedFlow, { message, input, file }: RunOptions): Readonly<Record<string, JsonValue>> {
  const own = input ?? {};
  if (message === undefined) {
    if (input === undefined && file === undefined) {
      throw new CliError('usage', 'Name the input: --message TEXT, --input JSON, --file PATH or several of them.');
    }
    return own;
  }
  const member = textMemberOf({ inputSchema: flow.source.input.schema });
  if (member === undefined) {
    throw new CliError('usage', 'The input of the flow has no member for a text: write --input JSON.');
  }
  return { ...own, [member]: message };
}

function writeTrace(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

function traceLine({ path, kind, outcome, attempts, durationMs }: NodeEnd): string {
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return `${path} ${kind}: ${outcome} (${durationMs.toFixed(1)} ms${tries})`;
}

function dataOf({ data }: FlowResult): { readonly data?: JsonValue } {
  return data === undefined ? {} : { data };
}

function textOf({ text, data }: FlowResult): string {
  return text ?? JSON.stringify(data, undefined, 2);
}

const exits: Readonly<Record<string, ExitName>> = {
  guardrail_denied: 'guardrail_blocked',
  deadline_exceeded: 'timeout',
  input_invalid: 'usage',
};

function failureOf(failed: Failure | undefined, remedies: ReadonlyMap<string, string>): CliError {
  if (failed === undefined) return new CliError('failed', 'The run ended without a result.');
  const { code, flowCode, message, path } = failed;
  const place = path === undefined ? '' : ` at ${path}`;
  const remedy = remedies.get(path ?? '');
  const cause = `${flowCode ?? code}${place}: ${message}`;
  return new CliError(exits[code] ?? 'failed', remedy === undefined ? cause : `${cause} ${remedy}`);
}
