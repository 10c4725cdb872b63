import type { ServerResponse } from 'node:http';
import { type CheckErrorBody, type CheckErrorCode, checkErrors } from '#contracts/checks';

/**
 * The error body (`guardrail:error-body:*`). The message is the fixed meaning of the code and, if one rule is the
 * cause, the id of the rule; it never contains a word of a checked text or of a provider's answer.
 */
export function errorBody(code: CheckErrorCode, traceId: string, rule?: string): CheckErrorBody {
  const { meaning } = checkErrors[code];
  return { code, message: rule === undefined ? meaning : `${meaning} Rule: ${rule}.`, traceId };
}

/** Sends an error with the status of its code. After the head of another answer, no error is sent. */
export function sendError(
  outgoing: ServerResponse,
  code: CheckErrorCode,
  details: {
    readonly traceId: string;
    readonly rule?: string | undefined;
    readonly allow?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const body = JSON.stringify(errorBody(code, details.traceId, details.rule));
  const allow = details.allow === undefined ? {} : { allow: details.allow };
  sendText(outgoing, checkErrors[code].status, body, { ...details.headers, ...allow });
}

/** Sends a whole JSON answer with its length. */
export function sendText(
  outgoing: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendMeasured(outgoing, status, { text, bytes: Buffer.byteLength(text, 'utf8') }, headers);
}

/**
 * Sends a JSON answer whose length in bytes of UTF-8 is known. A string is sent in one write together with the head; a
 * buffer would need two writes. ASCII text is sent as latin1, which needs no conversion.
 */
export function sendMeasured(
  outgoing: ServerResponse,
  status: number,
  { text, bytes }: { readonly text: string; readonly bytes: number },
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes, ...headers });
  if (outgoing.req.method === 'HEAD') outgoing.end();
  else outgoing.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
