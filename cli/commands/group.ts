import type { Command } from 'commander';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { type HolderOptions, holderCells, holderOf, withHolderOptions } from '../retrieval/holder-options.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

type GroupOptions = RetrievalOptions & OutputOptions;

/** Adds `group` with the changes of its members. */
export function addGroup(program: Command): void {
  const group = program.command('group').description('groups of the retrieval service; an administrator changes them');
  const members = group
    .command('members')
    .description('list the members that the service stores; groups of tokens are not among them')
    .argument('<group>', 'group of the tenant');
  withUnnamedOutput(withRetrievalOptions(members)).action(listMembers);
  for (const [verb, description] of [
    ['add', 'add a person, an agent or the members of another group to a group'],
    ['remove', 'remove a member; the rights of the group end with the next request'],
  ] as const) {
    const command = group.command(verb).description(description).argument('<group>', 'group of the tenant');
    withUnnamedOutput(withRetrievalOptions(withHolderOptions(command))).action(
      (name: string, options: GroupOptions & HolderOptions) => changeMember(verb, name, options),
    );
  }
}

async function listMembers(group: string, options: GroupOptions): Promise<void> {
  const { members } = await openRetrievalClient(options).listMembers(group);
  writeResult(formatOf(options), { items: members }, () =>
    members.length === 0
      ? `The service stores no member of the group ${group}.`
      : tableOf([['MEMBER', 'NAME'], ...members.map(holderCells)]),
  );
}

async function changeMember(
  verb: 'add' | 'remove',
  group: string,
  options: GroupOptions & HolderOptions,
): Promise<void> {
  const member = holderOf(options, `group ${verb}`);
  const changed = await openRetrievalClient(options).changeMember(group, verb, member);
  writeResult(formatOf(options), changed, () => {
    const [kind = '', named = ''] = holderCells(member);
    return verb === 'add'
      ? `The ${kind} ${named} is a member of the group ${group}.`
      : `The ${kind} ${named} is no longer a direct member of the group ${group}.`;
  });
}
