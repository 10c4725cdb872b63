import { DependencyUnavailableError, DocumentFault } from '../faults.ts';

/** Status and headers of an answer, header names in lower case. */
export type HttpsAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** The media types of JSON, and the type that object stores return for an object that was stored without a type. */
const mediaTypes = /^(?:application\/(?:[a-z0-9.-]+\+)?json|(?:application|binary)\/octet-stream)$/;

/**
 * Checks status and headers before the body is read.
 * @throws DependencyUnavailableError if another attempt may succeed
 * @throws DocumentFault if no attempt can succeed
 */
export function checkHttpsAnswer({ statusCode, headers }: HttpsAnswer, maxBytes: number): void {
  if (statusCode === 408 || statusCode === 429 || statusCode >= 500) throw new DependencyUnavailableError('content');
  if (statusCode >= 300 && statusCode < 400) {
    throw new DocumentFault('address_refused', 'content_ref.uri redirects: name the address of the document itself');
  }
  if (statusCode !== 200) {
    // The message does not contain the status, which would describe a server that the submitter may not reach.
    const message = 'content_ref.uri names no object that can be read: check that it exists and its signature is valid';
    throw new DocumentFault('content_absent', message);
  }
  // A compressed body would not match its hash, and its decompressed size is unknown.
  const encoding = one(headers['content-encoding']);
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new DocumentFault('malformed', 'content_ref names an object with a content encoding: store it without one');
  }
  const [type = '', charset] = (one(headers['content-type']) ?? '').toLowerCase().split(';', 2);
  if (!mediaTypes.test(type.trim()) || !isUtf8(charset)) {
    throw new DocumentFault('malformed', 'content_ref names an object of another type than application/json in UTF-8');
  }
  if (Number(one(headers['content-length']) ?? 0) > maxBytes) {
    throw new DocumentFault('too_large', `content_ref names more than ${maxBytes} bytes`);
  }
}

function isUtf8(parameter: string | undefined): boolean {
  const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter ?? '')?.[1];
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** Several fields with the same name are not accepted. */
function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
