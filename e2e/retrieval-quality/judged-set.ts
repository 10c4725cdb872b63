import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../../hack/check/run-tool.ts';

const judgedSetSchema = z.object({
  name: z.string(),
  documents: z.array(z.object({ id: z.string(), text: z.string() })),
  queries: z.array(z.object({ id: z.string(), text: z.string(), relevant: z.array(z.string()) })),
});

/** Documents, and queries with the ids of the documents that answer them. */
export type JudgedSet = z.infer<typeof judgedSetSchema>;

/** XQuAD in Russian as one JSON file; the file is not part of this repository, because its licence differs. */
const file = process.env['PORTCULLIS_XQUAD_RU'] ?? join(root, '../shared/data/xquad-ru.json');

/** Reason why the judged set is missing on this machine; undefined if it exists. */
export const missingJudgedSet: string | undefined = existsSync(file)
  ? undefined
  : 'needs XQuAD-ru: PORTCULLIS_XQUAD_RU names the file';

/** @throws if the file is missing or has another shape */
export function readJudgedSet(): JudgedSet {
  return judgedSetSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}
