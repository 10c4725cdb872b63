import { z } from 'zod';
import type { TokenFile } from '#kit/http/token-file';
import type { AuditReceiver } from '../../ports.ts';
import { logsRequest } from './otlp-logs.ts';
import { postEntries } from './post-entries.ts';

/** An ExportLogsServiceResponse; a number of 64 bits may be a text. */
const answerSchema = z.object({
  partialSuccess: z.object({ rejectedLogRecords: z.coerce.number().default(0) }).optional(),
});

/**
 * Sends entries as log records of OTLP/HTTP with JSON. If the answer rejects any record, none counts as stored: the
 * same entries are sent again, because an audit log without them would be incomplete.
 * @param url the address of the logs, usually with the path /v1/logs
 * @param token sent as bearer token; undefined sends none
 */
export function createOtlpAuditReceiver(
  url: URL,
  token: Pick<TokenFile, 'first'> | undefined,
  now: () => Date = () => new Date(),
): AuditReceiver {
  return {
    name: 'otlp',
    async send(entries, signal) {
      let credential: string | undefined;
      try {
        credential = token?.first();
      } catch {
        return { kind: 'failed', reason: 'the token cannot be read', retryAfterMs: 0 };
      }
      const body = JSON.stringify(logsRequest(entries[0]?.chain ?? '', entries, now()));
      const authorization = credential === undefined ? {} : { authorization: `Bearer ${credential}` };
      const headers = { 'content-type': 'application/json', ...authorization };
      const posted = await postEntries(url, { body, headers, signal });
      if (posted.kind === 'failed') return posted;
      const rejected = rejectedOf(posted.text);
      if (rejected === 0) return { kind: 'stored' };
      return { kind: 'failed', reason: `${rejected} records were rejected`, retryAfterMs: 0 };
    },
  };
}

/** A receiver may answer with an empty body. */
function rejectedOf(text: string): number {
  try {
    return answerSchema.parse(JSON.parse(text)).partialSuccess?.rejectedLogRecords ?? 0;
  } catch {
    return 0;
  }
}
