import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memorySchemas } from '../../dataplane/memory/http/memory-schemas.ts';
import { root } from '../../hack/check/run-tool.ts';

const page = readFileSync(join(root, 'docs/remember-people.md'), 'utf8');
const section = page.split('\n## Fields that the contract leaves open\n')[1]?.split('\n## ')[0] ?? '';

/** Bodies of operations that the contract does not have, and of protocols with a specification of their own. */
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
