import { type Argument, Command, InvalidArgumentError, type Option } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { UnknownOptionError } from '../errors/unknown-option-error.ts';
import {
  excessArgumentsSentence,
  invalidLineSentence,
  invalidValueSentence,
  missingArgumentSentence,
  missingOptionSentence,
  missingValueSentence,
  unknownCommandSentence,
  unknownOptionSentence,
} from './usage-sentences.ts';

/**
 * A command with its own messages for usage errors. The parser calls one of the methods below for each kind of error.
 * The type declarations of the parser do not list these methods, so that the command line tests cover all of them.
 */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  unknownCommand(): never {
    throw usage(unknownCommandSentence(this, this.args));
  }

  unknownOption(flag: string): never {
    throw new UnknownOptionError(unknownOptionSentence(this, flag));
  }

  missingArgument(name: string): never {
    throw usage(missingArgumentSentence(this, name));
  }

  optionMissingArgument(option: Option): never {
    throw usage(missingValueSentence(this, option));
  }

  missingMandatoryOptionValue(option: Option): never {
    throw usage(missingOptionSentence(this, option));
  }

  _excessArguments(words: readonly string[]): never {
    throw usage(excessArgumentsSentence(this, words));
  }

  _callParseArg(target: Argument | Option, value: string, previous: unknown): unknown {
    try {
      return target.parseArg?.(value, previous);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw usage(invalidValueSentence(this, target, { value, reason: error.message }));
    }
  }

  /** A usage error that no method above handles. */
  override error(): never {
    throw usage(invalidLineSentence(this));
  }
}

function usage(message: string): CliError {
  return new CliError('usage', message);
}
