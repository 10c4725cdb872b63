import { expect, test } from 'vitest';
import { createPlugin } from '../kubectl/program.ts';
import { createCommandLine } from '../program.ts';
import { leavesOf } from '../testing/leaves-of.ts';

/** Commands whose results have names or ids. All others refuse `-o name` before they run. */
const named = new Set([
  'get',
  'describe',
  'apply',
  'diff',
  'edit',
  'delete',
  'archive',
  'unarchive',
  'apply-revision',
  'rollback',
  'reapply',
  'unbind',
  'provider list',
  'collection create',
  'collection list',
  'collection get',
  'collection update',
  'collection move',
  'collection delete',
  'collection reindex',
  'documents list',
  'jobs list',
  'jobs get',
  'jobs replay',
  'memory add',
  'memory search',
  'memory list',
  'memory get',
  'memory update',
  'memory delete',
  'memory event',
  'agents list',
  'agents get',
  'agents search',
  'agent switch',
  'agent promote',
  'agent rollback',
  'agent runs',
  'flow publish',
  'operation list',
  'approval list',
  'freeze list',
]);

test.each([
  ['portcullis', createCommandLine],
  ['kubectl portcullis', createPlugin],
] as const)('%s offers -o name only for the commands whose results have names', async (_, create) => {
  const offered = leavesOf(await create()).filter(([, { options }]) =>
    options.some(({ long, description }) => long === '--output' && description.includes('name')),
  );
  const words = offered.map(([leaf]) => leaf);
  expect(words.filter((leaf) => !named.has(leaf))).toEqual([]);
  if (create === createCommandLine) expect(words.toSorted()).toEqual([...named].toSorted());
});
