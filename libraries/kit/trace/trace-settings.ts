import { setting } from '../env/read-environment.ts';
import type { TraceExport } from './export-spans.ts';

/** Settings of every service that records spans. */
export const traceSettings = {
  PORTCULLIS_TRACES_OTLP_URL: setting.optional(
    setting.url({
      help: 'OTLP/HTTP address for traces, which gets the spans of the process, such as https://collector:4318/v1/traces; none are recorded without it',
    }),
  ),
  PORTCULLIS_TRACES_OTLP_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for PORTCULLIS_TRACES_OTLP_URL, read again on change; none is sent without it' }),
  ),
};

type TraceValues = {
  readonly PORTCULLIS_TRACES_OTLP_URL: URL | undefined;
  readonly PORTCULLIS_TRACES_OTLP_TOKEN_FILE: string | undefined;
};

/** The settings of the collector; undefined for a process that records no spans. */
export function traceExportOf({
  PORTCULLIS_TRACES_OTLP_URL: url,
  PORTCULLIS_TRACES_OTLP_TOKEN_FILE: tokenFile,
}: TraceValues): TraceExport | undefined {
  return url === undefined ? undefined : { url, tokenFile };
}

/** The trace settings as environment variables for a child process. */
export function traceEnvironment(traces: TraceExport | undefined): Readonly<Record<string, string>> {
  if (traces === undefined) return {};
  const { url, tokenFile } = traces;
  return {
    PORTCULLIS_TRACES_OTLP_URL: url.href,
    ...(tokenFile === undefined ? {} : { PORTCULLIS_TRACES_OTLP_TOKEN_FILE: tokenFile }),
  };
}
