import { Command, CommanderError } from 'commander';
import { addApply } from './commands/apply.ts';
import { addBundleBuild } from './commands/bundle-build.ts';
import { addChat } from './commands/chat.ts';
import { addCheck } from './commands/check.ts';
import { addCompletion } from './commands/completion.ts';
import { addDelete } from './commands/delete.ts';
import { addDescribe } from './commands/describe.ts';
import { addEnv } from './commands/env.ts';
import { addGet } from './commands/get.ts';
import { addHistory } from './commands/history.ts';
import { addPolicyTest } from './commands/policy-test.ts';
import { addReapply } from './commands/reapply.ts';
import { addRollback } from './commands/rollback.ts';
import { addRuntime } from './commands/runtime.ts';
import { addStatus } from './commands/status.ts';
import { addUp } from './commands/up.ts';
import { describeError } from './describe-error.ts';
import { exitCodes } from './exit-codes.ts';

const commands = [
  addUp,
  addStatus,
  addEnv,
  addChat,
  addApply,
  addGet,
  addDescribe,
  addDelete,
  addHistory,
  addRollback,
  addReapply,
  addCheck,
  addPolicyTest,
  addBundleBuild,
  addRuntime,
  addCompletion,
];

/** The whole command line with all of its subcommands. */
export function createProgram(): Command {
  const program = new Command('portcullis')
    .description('Guardrails in front of models: start the platform, apply policies, talk to guarded models.')
    .showHelpAfterError('Add --help to see how it is used.')
    .helpCommand('help [command]', 'show how a command is used')
    .addHelpText('after', exitCodeHelp())
    .exitOverride();
  for (const add of commands) add(program);
  return program;
}

/** Runs one command line. @returns the exit code of the process */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    return exitCodes.ok.code;
  } catch (error) {
    // The parser has written its own sentence, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code;
    const { exit, message } = describeError(error);
    const asJson = args.includes('--json');
    const text = asJson ? JSON.stringify({ error: { code: exit, message } }) : `portcullis: ${message}`;
    process.stderr.write(`${text}\n`);
    return exitCodes[exit].code;
  }
}

function exitCodeHelp(): string {
  const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) => `  ${code}\t${name}: ${meaning}`);
  return `\nExit codes:\n${rows.join('\n')}`;
}
