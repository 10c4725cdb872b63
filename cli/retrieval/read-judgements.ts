import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fieldPath, readShape } from '#contracts/read-shape';
import { judgementListSchema } from '#contracts/retrieval-evaluation';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';
import type { EvaluationInput } from './retrieval-client.ts';

/** The judged queries of a YAML or JSON file. @throws CliError not_found, usage with the place of each problem */
export function readJudgements(path: string): EvaluationInput['judgements'] {
  const read = readShape(judgementListSchema, parsed(path));
  if (read.ok) return read.value;
  const problems = read.problems.map(({ path: place, message }) => `${fieldPath(place) || 'the file'} ${message}`);
  throw new CliError('usage', `${path} is not a list of judged queries: ${problems.slice(0, 5).join('; ')}.`);
}

function parsed(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}.`, { cause });
    const reason =
      cause instanceof Error && cause.name === 'YAMLParseError' ? 'it is not valid YAML' : fileReason(cause);
    throw new CliError('usage', `${path} cannot be read: ${reason}.`, { cause });
  }
}
