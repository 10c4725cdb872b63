import { FileWriteError } from '#kit/files/write-atomic';
import { type ConnectionFault, connectionFault } from '#kit/http/connection-fault';
import { TokenFileError } from '#kit/http/token-file';
import { KubeconfigError } from '#kube/client/credentials';
import { KubeError, type KubeErrorCode } from '#kube/client/kube-error';
import { CliError } from './cli-error.ts';
import type { ExitName } from './exit-codes.ts';
import { fileFault, fileReason } from './file-fault.ts';

const kubeExits: Readonly<Record<KubeErrorCode, ExitName>> = {
  not_found: 'not_found',
  already_exists: 'conflict',
  conflict: 'conflict',
  precondition_failed: 'conflict',
  invalid: 'usage',
  gone: 'failed',
  too_large_resource_version: 'failed',
  unauthenticated: 'unauthenticated',
  forbidden: 'refused',
  too_many_requests: 'failed',
  unavailable: 'failed',
  network: 'not_running',
  storage_full: 'failed',
};

/** The message and the exit code for an error of a command. */
export function describeError(error: unknown): { exit: ExitName; message: string } {
  if (error instanceof CliError) return { exit: error.exit, message: error.message };
  if (error instanceof KubeError) return { exit: kubeExit(error), message: kubeSentence(error) };
  if (error instanceof KubeconfigError) return { exit: 'usage', message: `${error.message}.` };
  if (error instanceof FileWriteError || error instanceof TokenFileError) {
    return { exit: 'failed', message: error.message };
  }
  return { exit: 'failed', message: fileSentence(error) ?? unexpectedSentence(error) };
}

/** A server that refuses an object (422) may have accepted others of the same command. */
function kubeExit({ code, details }: KubeError): ExitName {
  return code === 'invalid' && details.status === 422 ? 'refused' : kubeExits[code];
}

/** The sentence for an error about a file; undefined for any other error. */
function fileSentence(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('path' in error) || fileFault(error) === undefined) return undefined;
  return `${String(error.path)} cannot be used: ${fileReason(error)}.`;
}

/**
 * The sentence for an unexpected error. The text of the error may come from a library and is shown only for debugging.
 */
function unexpectedSentence(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (process.env['PORTCULLIS_DEBUG'] !== undefined) return `An error without a message: ${stack}`;
  const name = error instanceof Error ? error.name : typeof error;
  return (
    `The command failed with an error without a message (${name}). ` +
    'Repeat it with PORTCULLIS_DEBUG=1 and report its output.'
  );
}

/** Codes of the system and of libraries are not shown. */
const connectionWords: Readonly<Record<ConnectionFault, string>> = {
  name_not_found: 'its name cannot be resolved',
  refused: 'no program accepts connections at its address',
  timeout: 'no complete answer came in time',
  certificate_untrusted: 'its certificate is not trusted',
  certificate_expired: 'its certificate has expired or is not valid yet',
  certificate_wrong_host: 'its certificate is for another name',
  tls: 'it does not speak https',
  network: 'the connection broke',
};

/** The message of the server follows in brackets where it names the object or the right. */
function kubeSentence({ code, message, details, cause }: KubeError): string {
  const words = `(${message})`;
  switch (code) {
    case 'network':
      return `The platform does not answer (${connectionWords[connectionFault(cause)]}): check its logs, or restart it.`;
    case 'precondition_failed':
    case 'conflict':
      return `The resource was changed concurrently: read it again and repeat the command. ${words}`;
    case 'forbidden':
      return `The server does not allow this ${words}: ask for a role with this right, such as portcullis-viewer or portcullis-editor.`;
    case 'unauthenticated':
      return `The server refused the credentials: log in again, or choose another context. ${words}`;
    case 'not_found':
      return details.absent === undefined
        ? 'The server has no such resources in this namespace: choose another one, or install the chart first.'
        : `The server no longer has ${details.absent}: list the resources and repeat the command.`;
    case 'already_exists':
      return `The resource exists already: choose another name, or apply the file to it. ${words}`;
    case 'invalid':
      return `The server refused the resource: ${causesOf(details) ?? message}. Correct it and repeat the command.`;
    case 'gone':
    case 'too_large_resource_version':
      return `The list changed while it was read: repeat the command. ${words}`;
    case 'too_many_requests':
    case 'unavailable':
      return `The server is not ready: repeat the command in a moment. ${words}`;
    case 'storage_full':
      return `The disk of the server is full: free some space and repeat the command. ${words}`;
  }
}

/** Every problem of an invalid object, each with its field. */
function causesOf({ causes = [] }: KubeError['details']): string | undefined {
  if (causes.length === 0) return undefined;
  return causes.map(({ field, message }) => (field === '' ? message : `${field} ${message}`)).join('; ');
}
