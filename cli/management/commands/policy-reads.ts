import type { Command } from 'commander';
import { managementLimits } from '#contracts/management';
import { wholeNumber } from '../../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../../output/format.ts';
import { parseRevisionNumber } from '../../revisions/revision-number.ts';
import type { ManagementClient, PolicyList, RevisionList } from '../client.ts';
import { type ManagementCommandOptions, openManagement, withManagementOptions } from '../management-options.ts';
import { resolvePolicy } from '../resolve-policy.ts';
import { describePolicy, policyTable } from '../texts.ts';
import { allPolicies, allRevisions } from '../walk-pages.ts';

type ReadOptions = ManagementCommandOptions & OutputOptions;
type ListOptions = ReadOptions & { readonly limit?: number; readonly cursor?: string };
type HistoryOptions = ReadOptions & { readonly limit?: number; readonly before?: number };

const { min, max } = managementLimits.pageSize;
const which = 'id or name of the policy';

export function addPolicyReads(policy: Command): void {
  read(policy, 'list', 'list policies, newest first: all of them, or one page with --limit or --cursor')
    .option('--limit <n>', `entries of one page, ${min} to ${max}`, wholeNumber(min, max))
    .option('--cursor <cursor>', 'the page after this cursor')
    .action(list);
  read(policy, 'get', 'show the latest revision of a policy with its definition')
    .argument('<guardrail-policy>', which)
    .action(get);
  read(policy, 'history', 'list the revisions of a policy, newest first')
    .argument('<guardrail-policy>', which)
    .option('--limit <n>', `entries of one page, ${min} to ${max}`, wholeNumber(min, max))
    .option('--before <revision>', 'the page before this revision', parseRevisionNumber)
    .action(history);
  read(policy, 'revision', 'show one revision of a policy with its definition')
    .argument('<guardrail-policy>', which)
    .argument('<revision>', 'number of the revision', parseRevisionNumber)
    .action(revision);
}

function read(policy: Command, name: string, description: string): Command {
  return withOutput(withManagementOptions(policy.command(name).description(description)));
}

async function list(options: ListOptions): Promise<void> {
  const { client } = openManagement(options);
  const page = await policiesOf(client, options);
  writeResult(formatOf(options), page, (isWide) => {
    if (page.items.length === 0) return 'No policies.';
    const more = page.nextCursor === null ? '' : `\nMore: --cursor ${page.nextCursor}`;
    return `${policyTable(page.items, isWide)}${more}`;
  });
}

async function policiesOf(client: ManagementClient, { limit, cursor }: ListOptions): Promise<PolicyList> {
  if (limit === undefined && cursor === undefined) {
    return { items: await Array.fromAsync(allPolicies(client)), nextCursor: null };
  }
  return client.listPolicies({
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  });
}

async function get(word: string, options: ReadOptions): Promise<void> {
  const { client } = openManagement(options);
  const { value } = await client.getPolicy(await resolvePolicy(client, word));
  writeResult(formatOf(options), value, () => describePolicy(value));
}

async function history(word: string, options: HistoryOptions): Promise<void> {
  const { client } = openManagement(options);
  const page = await revisionsOf(client, await resolvePolicy(client, word), options);
  writeResult(formatOf(options), page, (isWide) => {
    if (page.items.length === 0) return 'No revisions.';
    const more = page.nextBeforeRevision === null ? '' : `\nMore: --before ${page.nextBeforeRevision}`;
    return `${policyTable(page.items, isWide)}${more}`;
  });
}

async function revisionsOf(
  client: ManagementClient,
  policyId: string,
  { limit, before }: HistoryOptions,
): Promise<RevisionList> {
  if (limit === undefined && before === undefined) {
    return { items: await Array.fromAsync(allRevisions(client, policyId)), nextBeforeRevision: null };
  }
  return client.listRevisions(policyId, {
    ...(limit === undefined ? {} : { limit }),
    ...(before === undefined ? {} : { beforeRevision: before }),
  });
}

async function revision(word: string, number: number, options: ReadOptions): Promise<void> {
  const { client } = openManagement(options);
  const found = await client.getRevision(await resolvePolicy(client, word), number);
  writeResult(formatOf(options), found, () => describePolicy(found));
}
