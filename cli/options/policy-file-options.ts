import { type Command, Option } from 'commander';
import { contentProfiles, currentProfile } from '#contracts/profiles';

/** Options of the commands that validate a policy without a server. */
export type PolicyFileOptions = {
  readonly profile: string;
  readonly limits?: string;
  readonly providers?: string;
};

export function withPolicyFileOptions(command: Command): Command {
  return command
    .addOption(new Option('--profile <profile>', 'content profile').choices(contentProfiles).default(currentProfile))
    .option('--limits <file>', 'bundle limits of the environment')
    .option('--providers <file>', 'approved providers of the environment');
}
