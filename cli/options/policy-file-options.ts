import { type Command, InvalidArgumentError, Option } from 'commander';
import { contentProfiles, currentProfile } from '#contracts/profiles';

/** Options of the commands that validate a policy without a server. */
export type PolicyFileOptions = {
  readonly profile: string;
  readonly limits?: string;
  readonly providers?: string;
};

/**
 * Adds `--policy`, which names the only policy of the command and may be given once: otherwise only the last one would
 * be used.
 */
export function withPolicyFile(command: Command): Command {
  const option = new Option('--policy <file>', 'file with one GuardrailPolicy, or - for standard input');
  return command.addOption(option.argParser(readOnce).makeOptionMandatory());
}

function readOnce(path: string, before: string | undefined): string {
  if (before === undefined) return path;
  throw new InvalidArgumentError(`--policy was already given as ${JSON.stringify(before)}: give it once.`);
}

export function withPolicyFileOptions(command: Command): Command {
  return command
    .addOption(new Option('--profile <profile>', 'content profile').choices(contentProfiles).default(currentProfile))
    .option('--limits <file>', 'bundle limits of the environment')
    .option('--providers <file>', 'approved providers of the environment');
}
