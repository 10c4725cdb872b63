import type { z } from 'zod';
import type { JsonValue } from '#kit/json/json-value';
import type { RunEvent } from '../engine/run-events.ts';
import { equalValues } from '../expressions/equal-values.ts';
import type { expectationSchema } from './flow-tests-schema.ts';

type Expectation = z.infer<typeof expectationSchema>;
type Failed = Extract<RunEvent, { readonly type: 'failed' }>;

/** One expectation about a run: the score is 1 if it is met, and 0 with a sentence if it is not. */
export type Judgement = { readonly score: number; readonly problem?: string };

/** Compares the events of a run with its expectations: first its end, then each member, then each node. */
export function judgeRun(expected: Expectation, events: readonly RunEvent[]): readonly Judgement[] {
  const last = events.at(-1);
  const ran = new Set(events.flatMap((event) => (event.type === 'nodeStarted' ? [event.node] : [])));
  const wanted = expected.flowCode ?? expected.error;
  const ends =
    last?.type === 'failed'
      ? wanted === undefined
        ? [`the run failed with ${last.code}${placeOf(last)}: ${last.message}`]
        : errorProblems(expected, last)
      : wanted === undefined
        ? [undefined]
        : [`the run gave a result, expected the error ${wanted}`];
  return [
    ...ends.map(judgement),
    ...resultProblems(expected, last, ends[0]).map(judgement),
    ...(expected.runs ?? []).map((id) => judgement(ran.has(id) ? undefined : `the node ${id} did not run`)),
    ...(expected.skips ?? []).map((id) => judgement(ran.has(id) ? `the node ${id} ran` : undefined)),
  ];
}

function judgement(problem: string | undefined): Judgement {
  return problem === undefined ? { score: 1 } : { score: 0, problem };
}

function placeOf({ path }: Failed): string {
  return path === undefined ? '' : ` at ${path}`;
}

function errorProblems({ error, flowCode }: Expectation, failed: Failed): readonly (string | undefined)[] {
  const { code, flowCode: own } = failed;
  return [
    ...(error === undefined ? [] : [code === error ? undefined : `the run failed with ${code}, expected ${error}`]),
    ...(flowCode === undefined
      ? []
      : [own === flowCode ? undefined : `the run failed with ${own ?? code}, expected ${flowCode}`]),
  ];
}

/** @param ended the problem of a run without a result, which is reported for each expected member of the result */
function resultProblems(
  { text, textContains, data }: Expectation,
  last: RunEvent | undefined,
  ended: string | undefined,
): readonly (string | undefined)[] {
  const result = last?.type === 'result' ? last.result : undefined;
  const given = result?.text;
  const judged = [
    text === undefined ? null : given === text ? undefined : `the text is ${shown(given)}, expected ${shown(text)}`,
    textContains === undefined
      ? null
      : given?.includes(textContains) === true
        ? undefined
        : `the text is ${shown(given)}, expected that it contains ${shown(textContains)}`,
    data === undefined
      ? null
      : result?.data !== undefined && equalValues(result.data, data)
        ? undefined
        : `the data is ${shown(result?.data)}, expected ${shown(data)}`,
  ].filter((problem) => problem !== null);
  return result === undefined ? judged.map(() => ended ?? 'the run gave no result') : judged;
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
