import type { Command } from 'commander';

/** The commands without subcommands below a command, each with its words. */
export function leavesOf(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((sub) => leavesOf(sub, [...words, sub.name()]));
}
