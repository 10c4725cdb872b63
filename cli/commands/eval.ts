import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { fieldPath, readShape } from '#contracts/read-shape';
import { type RetrievalMode, retrievalLimits } from '#contracts/retrieval';
import { evaluationLimits, judgementListSchema } from '#contracts/retrieval-evaluation';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import type { Evaluation, EvaluationInput } from '../retrieval/retrieval-client.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

type EvalOptions = RetrievalOptions &
  OutputOptions & {
    readonly collection: string;
    readonly modes: readonly RetrievalMode[];
    readonly topK: number;
    readonly rerank?: boolean;
  };

const everyMode: readonly RetrievalMode[] = ['bm25', 'vector', 'hybrid'];

export function addEval(program: Command): void {
  const { min, max, default: usual } = evaluationLimits.topK;
  const command = program
    .command('eval')
    .description('measure the search with judged queries: nDCG, recall, MRR and durations of each mode')
    .argument('<file>', 'YAML or JSON list of {text, relevant: [{doc_id, grade}]}')
    .requiredOption('--collection <name>', 'collection that is searched')
    .option('--modes <names>', 'modes that are measured, separated by commas', readModes, everyMode)
    .option(
      '--top-k <number>',
      'number of documents of an answer that count',
      wholeNumber(min, Math.min(max, retrievalLimits.topK.max)),
      usual,
    )
    .option('--rerank', 'order the citations by the rerank profile of the collection');
  withUnnamedOutput(withRetrievalOptions(command)).action(evaluate);
}

async function evaluate(file: string, options: EvalOptions): Promise<void> {
  const { collection, modes, topK, rerank } = options;
  const found = await openRetrievalClient(options).evaluate({
    collection,
    judgements: [...readJudgements(file)],
    modes: [...modes],
    top_k: topK,
    ...(rerank === true ? { rerank } : {}),
  });
  writeResult(formatOf(options), found, () => evaluationTable(found));
}

function evaluationTable({ top_k, queries, results }: Evaluation): string {
  const header = ['MODE', `NDCG@${top_k}`, `RECALL@${top_k}`, `MRR@${top_k}`, 'P50 MS', 'P95 MS'];
  const rows = results.map(({ mode, ndcg, recall, mrr, p50_ms, p95_ms }) => [
    mode,
    ...[ndcg, recall, mrr].map((share) => share.toFixed(3)),
    ...[p50_ms, p95_ms].map((ms) => ms.toFixed(1)),
  ]);
  return `${tableOf([header, ...rows])}\n${queries} queries.`;
}

function readModes(text: string): readonly RetrievalMode[] {
  const names = text.split(',').map((name) => name.trim());
  const modes = everyMode.filter((mode) => names.includes(mode));
  if (modes.length === names.length) return modes;
  throw new InvalidArgumentError(`It must be a list of ${everyMode.join(', ')}, each once.`);
}

/** The judged queries of a YAML or JSON file. @throws CliError not_found, usage with the place of each problem */
function readJudgements(path: string): EvaluationInput['judgements'] {
  const read = readShape(judgementListSchema, parsed(path));
  if (read.ok) return read.value;
  const problems = read.problems.map(({ path: place, message }) => `${fieldPath(place) || 'the file'} ${message}`);
  throw new CliError('usage', `${path} is not a list of judged queries: ${problems.slice(0, 5).join('; ')}.`);
}

function parsed(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}: check the path.`, { cause });
    const reason =
      cause instanceof Error && cause.name === 'YAMLParseError' ? 'it is not valid YAML' : fileReason(cause);
    throw new CliError('usage', `${path} cannot be read: ${reason}.`, { cause });
  }
}
