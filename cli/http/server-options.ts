import type { Command } from 'commander';
import { openTokenFile, type TokenFile, TokenFileError } from '#kit/http/token-file';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';

/** Options that select a management API and the credentials for it. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--server <url>', 'origin of another management API; needs --token-file')
    .option('--token-file <file>', 'file with a platform token (default: a token of the first administrator)');
}

/** The URL must be https, or http on loopback: a token is never sent over a network unencrypted. */
export function originOf(server: string, option = '--server'): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const isHere = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url !== undefined && (url.protocol === 'https:' || isHere) && url.pathname === '/' && url.search === '') {
    return url.origin;
  }
  throw new CliError(
    'usage',
    `${option} must be the scheme, the host and the port of a server, such as https://portcullis.example. http:// is allowed for this machine only, such as http://127.0.0.1:PORT.`,
  );
}

function openUserTokenFile(path: string): TokenFile {
  try {
    return openTokenFile(path);
  } catch (cause) {
    if (!(cause instanceof TokenFileError)) throw cause;
    if (isAbsent(cause.cause)) {
      throw new CliError('not_found', `There is no token file ${path}: check the path of --token-file.`, { cause });
    }
    throw new CliError('usage', `The token file ${path} ${tokenFault(cause)}`, { cause });
  }
}

function tokenFault({ code, cause }: TokenFileError): string {
  switch (code) {
    case 'unreadable':
      return `cannot be used: ${fileReason(cause)}.`;
    case 'too_many_lines':
      return 'has more than two lines with text: keep one token on one line.';
    case 'empty':
      return `is empty or has blank lines only: write one token on one line into it. ${typedCommand('token')} signs one for a platform on this machine.`;
  }
}

/** Reads the token of a file for every request. @throws CliError not_found, usage */
export function tokenOf(path: string): () => Promise<string> {
  const file = openUserTokenFile(path);
  return async () => file.first();
}
