import type { Command } from 'commander';
import type { Holder } from '#contracts/retrieval-grants';
import { CliError } from '../errors/cli-error.ts';

/** The holder of a right: exactly one of the members is set. */
export type HolderOptions = { readonly person?: string; readonly agent?: string; readonly group?: string };

export function withHolderOptions(command: Command): Command {
  return command
    .option('--person <name>', 'person, as sub or issuer|sub')
    .option('--agent <name>', 'agent, as sub or issuer|sub')
    .option('--group <name>', 'group of the tenant');
}

/**
 * @param command the words of the command, such as `group add` @throws CliError usage unless exactly one holder is
 * named
 */
export function holderOf({ person, agent, group }: HolderOptions, command: string): Holder {
  const named = {
    ...(person === undefined ? {} : { user_id: person }),
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(group === undefined ? {} : { group }),
  };
  if (Object.keys(named).length === 1) return named;
  throw new CliError('usage', `"${command}" needs exactly one member: --person NAME, --agent NAME or --group NAME.`);
}

/** The kind and the name of a holder. */
export function holderCells({ user_id, agent_id, group }: Holder): readonly string[] {
  if (user_id !== undefined) return ['person', user_id];
  return agent_id === undefined ? ['group', group ?? ''] : ['agent', agent_id];
}
