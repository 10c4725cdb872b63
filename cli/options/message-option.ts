import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { type ChangeNote, changeAuthorSchema, changeMessageSchema } from '#resources/change-note';

/** Adds the message of a change, which the resource keeps, and so do the revision and the application that it makes. */
export function withMessage(command: Command): Command {
  return command.option('-m, --message <text>', 'reason for the change, stored with it', readText);
}

function readText(text: string): string {
  if (changeMessageSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be one line of at most 512 characters without control characters.');
}

/** The note of a change on this command line. The author is the user of the operating system, who is not verified. */
export function noteOfCommand(message: string | undefined): ChangeNote {
  const author = changeAuthorSchema.safeParse(`${userName()} (command line)`);
  return {
    ...(author.success ? { author: author.data } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

/** A container may run under a user id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
