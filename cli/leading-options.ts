import { Command } from 'commander';
import type { ResourceSource } from './resources/resource-source.ts';

/**
 * Moves options of the source that stand before the command, as in `-n team status`, behind it, where the parser takes
 * them. All other words keep their place.
 */
export function withLeadingOptions(program: Command, source: ResourceSource, args: readonly string[]): string[] {
  const { options } = source.addOptions(new Command());
  let at = 0;
  while (at < args.length) {
    const [flag = '', value] = (args[at] ?? '').split(/=(.*)/s, 2);
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option === undefined) break;
    at += option.required && value === undefined ? 2 : 1;
  }
  let end = at;
  let command: Command | undefined = program;
  while (at > 0 && command !== undefined) {
    command = command.commands.find((sub) => sub.name() === args[end]);
    if (command !== undefined) end += 1;
  }
  return end === at ? [...args] : [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
}
