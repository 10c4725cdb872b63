import { FileWriteError } from '#kit/files/write-atomic';
import { TokenFileError } from '#kit/http/token-file';
import { KubeError, type KubeErrorCode } from '#kube/kube-error';
import { CliError } from './cli-error.ts';
import type { ExitName } from './exit-codes.ts';
import { StartFailure } from './supervisor/child-failure.ts';

const kubeExits: Readonly<Record<KubeErrorCode, ExitName>> = {
  not_found: 'not_found',
  already_exists: 'conflict',
  conflict: 'conflict',
  precondition_failed: 'conflict',
  invalid: 'usage',
  gone: 'failed',
  too_large_resource_version: 'failed',
  unauthenticated: 'failed',
  forbidden: 'failed',
  too_many_requests: 'failed',
  unavailable: 'failed',
  network: 'not_running',
  storage_full: 'failed',
};

/** The sentence and the exit of whatever a command threw. */
export function describeError(error: unknown): { exit: ExitName; message: string } {
  if (error instanceof CliError) return { exit: error.exit, message: error.message };
  if (error instanceof KubeError) return { exit: kubeExits[error.code], message: kubeSentence(error) };
  if (error instanceof FileWriteError || error instanceof TokenFileError || error instanceof StartFailure) {
    return { exit: 'failed', message: error.message };
  }
  return { exit: 'failed', message: `Unexpected failure: ${unexpected(error)}` };
}

/** One line; where the error came from is shown when PORTCULLIS_DEBUG is set. */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const where = process.env['PORTCULLIS_DEBUG'] === undefined ? undefined : error.stack;
  return where ?? `${error.name}: ${error.message}`;
}

function kubeSentence({ code, message, details }: KubeError): string {
  if (code === 'network') return 'The platform does not answer: look at its logs, or start it again.';
  const causes = details.causes ?? [];
  if (causes.length === 0) return message;
  return causes.map(({ field, message: problem }) => (field === '' ? problem : `${field} ${problem}`)).join('; ');
}
