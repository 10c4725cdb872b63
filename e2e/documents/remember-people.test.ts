import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { memorySchemas } from '../../dataplane/memory/http/memory-schemas.ts';
import { root } from '../../hack/check/run-tool.ts';

const page = readFileSync(join(root, 'docs/remember-people.md'), 'utf8');
const partOf = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const section = partOf('Fields that the contract leaves open');

/** Bodies of operations that the contract does not have, and of protocols with their own specification. */
const own = ['ExportedUser', 'EraseUserRequest', 'Erasure', 'McpMessage', 'McpAnswer', 'Health', 'Error'];
/** Fields that the contract names. */
const named = new Set(
  [
    'event_id status memory_ids id memory score score_details semantic bm25 created_at user_id agent_id categories hash',
    'updated_at role count deleted_count confirmation_id event session_id state ttl_seconds ttl_remaining_seconds',
    'messages run_id infer query filters top_k token_budget tokens_returned page_size',
  ]
    .join(' ')
    .split(' '),
);

function propertiesOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  return [...Object.keys(properties), ...[...Object.values(properties), ...Object.values(rest)].flatMap(propertiesOf)];
}

test('the page about memories gives the reason of every field that the contract does not name', () => {
  const bodies = Object.entries(memorySchemas()).filter(([name]) => !own.includes(name));
  const fields = new Set(bodies.flatMap(([, schema]) => propertiesOf(schema)));
  expect(fields).toContain('tokens_returned');
  const open = [...fields].filter((field) => !named.has(field));
  expect(open.length).toBeGreaterThan(10);
  expect(open.filter((field) => !section.includes(`\`${field}\``))).toEqual([]);
});

const count = (value: number): string => value.toLocaleString('en');
const kib = (bytes: number): string => `${bytes / 1_024} KiB`;
const limits = memoryLimits;

test.each([
  ['body of a request', [`${limits.bodyBytes / 1_048_576} MiB`]],
  ['messages of an add; characters of one', [count(limits.messagesOfAdd), count(limits.messageLength)]],
  ['facts that one add may state', [count(limits.factsOfAdd)]],
  [
    'sentences of one add that state a change without an extraction model, such as "I moved" or "I gave up tennis"',
    [count(limits.changesOfAdd)],
  ],
  ['characters of a memory, of a query', [count(limits.memoryLength), count(limits.queryText)]],
  ['characters of `agent_id`, `run_id`, `Idempotency-Key`', [count(limits.scopeId), count(limits.key)]],
  ['categories; characters of one', [count(limits.categories), count(limits.category)]],
  ['metadata; state of a session', [kib(limits.metadataBytes), kib(limits.stateBytes)]],
  [
    '`top_k`, `token_budget`, `page_size`',
    [count(limits.topK.max), count(limits.tokenBudget.max), count(limits.pageSize.max)],
  ],
  ['`ttl_seconds`', [`${limits.ttlSeconds.max / 86_400} days`]],
  [
    'history of a memory in one answer',
    [`${limits.historyBytes / 1_048_576} MiB`, `${limits.historyEntryBytes} bytes for each entry`],
  ],
])('the page about memories states the limit of the service for: %s', (what, numbers) => {
  const row = partOf('Limits')
    .split('\n')
    .find((line) => line.startsWith(`| ${what} |`));
  for (const number of numbers) expect(row).toContain(number);
});
