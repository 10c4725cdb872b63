import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { retrievalLimits } from '#contracts/retrieval';
import { grantLimits } from '#contracts/retrieval-grants';
import { nameLimits } from '#relations/tuple';
import { conditionLimits } from '#search/parse-condition';
import { attributeLimits } from '../../dataplane/retrieval/index/chunk-attributes.ts';
import { root } from '../../hack/check/run-tool.ts';

const page = readFileSync(join(root, 'docs/search-documents.md'), 'utf8');
const section = page.split('\n## Limits\n')[1]?.split('\n## ')[0] ?? '';
const rows = section.split('\n').filter((line) => line.startsWith('| '));
const mib = (bytes: number): string => `${bytes / 1_048_576} MiB`;
const count = (value: number): string => value.toLocaleString('en');
const limits = retrievalLimits;

test.each([
  ['body of a submit or an evaluation, of any other request', [mib(limits.bodyBytes), mib(limits.smallBodyBytes)]],
  ['documents of a submit', [count(limits.documentsOfSubmit)]],
  ['inline content of a document', [mib(limits.inlineBytes)]],
  ['metadata of a document', [`${limits.metadataBytes / 1_024} KiB`]],
  ['sections, tables of a document', [`${count(limits.sections)}, ${count(limits.tables)}`]],
  ['groups, principals of an access list', [count(limits.principals), count(limits.principal)]],
  [
    '`doc_id`, `idempotency_key`, `content_hash`',
    [`${count(limits.docIdBytes)} bytes`, `${count(limits.keyBytes)} bytes`],
  ],
  ['address of `content_ref`', [count(limits.uri)]],
  ['name, description of a collection', [`${limits.name}, ${count(limits.description)}`]],
  ['chunk size, overlap', [`${limits.chunkSize.min} to ${count(limits.chunkSize.max)}`]],
  ['grants of a collection, members of a group', [count(grantLimits.listed), count(grantLimits.holder)]],
  ['a user or agent in a grant', [`${nameLimits.subject} characters`]],
  ['text of a query', [count(limits.queryText)]],
  ['`top_k`', [`${limits.topK.min} to ${limits.topK.max}`]],
  ['`token_budget`', [`${limits.tokenBudget.min} to ${count(limits.tokenBudget.max)}`]],
  [
    'a filter',
    [
      `nested ${conditionLimits.depth} deep`,
      `${conditionLimits.parts} parts`,
      `${count(conditionLimits.values)} values`,
    ],
  ],
  [
    'what filters compare of a document',
    [
      `${attributeLimits.attributes} attributes`,
      `${attributeLimits.values} values`,
      `${count(attributeLimits.valueLength)} characters`,
      `nested ${attributeLimits.depth} deep`,
    ],
  ],
])('the page about searches states the limit of the service for: %s', (what, numbers) => {
  const row = rows.find((line) => line.startsWith(`| ${what}`)) ?? '';
  for (const number of numbers) expect(row).toContain(number);
});
