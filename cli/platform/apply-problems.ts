import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '#contracts/data-directory';
import { problemSentence } from '../manifests/problem-sentence.ts';

/** The report in the watched folder in which the operator lists files that it could not apply. */
export const problemsFile = '.problems.json';

const problemSchema = z.object({
  file: z.string(),
  document: z.int(),
  line: z.int().optional(),
  column: z.int().optional(),
  field: z.string(),
  message: z.string(),
});
const reportSchema = z.object({ problems: z.array(problemSchema) });

/** A sentence for each problem of the files in the watched folder, naming file, document, line and field. */
export function readApplyProblems(data: DataDirectory): readonly string[] {
  try {
    const { problems } = reportSchema.parse(JSON.parse(readFileSync(join(data.apply, problemsFile), 'utf8')));
    return problems.map(({ file, line, column, ...problem }) => {
      const place = { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
      return problemSentence(join(data.apply, file), { ...problem, ...place });
    });
  } catch {
    // Until the operator has checked the folder for the first time, there is no report.
    return [];
  }
}
