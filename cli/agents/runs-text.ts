import type { TracedNode, TracedRun, TracedRunList } from '#contracts/agent-runs';
import { tableOf } from '../output/write.ts';

type ListedRun = TracedRunList['runs'][number];

/** The runs as a table, the newest first. */
export function runsText({ all, runs }: TracedRunList, agent: string): string {
  if (runs.length === 0) {
    const whose = all
      ? 'The process of the agent has no stored run'
      : 'The process of the agent has no stored run of yours';
    return `${whose}. Call it first: portcullis agent send ${agent} --message TEXT`;
  }
  const rows = runs.map((run) => [run.runId, run.startedAt, durationOf(run.durationMs), resultOf(run)]);
  return tableOf([['RUN', 'STARTED', 'DURATION', 'RESULT'], ...rows]);
}

/** One run with its nodes, in the order of their starts. */
export function traceText(run: TracedRun): string {
  const { runId, versionId, traceId, startedAt, durationMs, nodes, omittedNodes } = run;
  const facts = [
    ['Run', runId],
    ['Version', versionId],
    ['Trace', traceId],
    ['Started', startedAt],
    ['Duration', durationOf(durationMs)],
    ['Result', resultOf(run)],
  ];
  const head = ['NODE', 'KIND', 'START', 'DURATION', 'OUTCOME', 'ATTEMPTS'];
  const table = tableOf([head, ...nodes.map(nodeRow)]);
  const more =
    omittedNodes === 0
      ? ''
      : `
${omittedNodes} further nodes were started and are not stored.`;
  return `${tableOf(facts)}\n\n${table}${more}`;
}

function nodeRow({ path, kind, startedMs, durationMs, outcome, attempts }: TracedNode): readonly string[] {
  return [path, kind, durationOf(startedMs), durationOf(durationMs), outcome ?? 'running', String(attempts ?? '-')];
}

/** The code of a failure with its step and, if it is different, the code of the flow. */
function resultOf({ code, step, flowCode }: ListedRun): string {
  if (code === undefined) return 'running';
  if (code === 'none') return 'ok';
  const why = [flowCode === code ? undefined : flowCode, step === undefined ? undefined : `step ${step}`];
  const more = why.filter((one) => one !== undefined).join(', ');
  return more === '' ? code : `${code} (${more})`;
}

function durationOf(ms: number | undefined): string {
  return ms === undefined ? '-' : `${Math.round(ms)} ms`;
}
