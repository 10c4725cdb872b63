import { ConfigError, setting } from '#kit/env/read-environment';

/** Settings of every service that writes the audit log. */
export const auditSettings = {
  PORTCULLIS_AUDIT_DAYS: setting.integer({
    help: 'how long entries of the audit log are kept, days',
    min: 1,
    max: 36_500,
    default: 400,
  }),
  PORTCULLIS_AUDIT_WEBHOOK_URL: setting.optional(
    setting.url({ help: 'webhook that gets the entries of the audit log as JSON lines' }),
  ),
  PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: setting.optional(
    setting.file({
      help: 'key of the signatures of the webhook, read again on change; required if PORTCULLIS_AUDIT_WEBHOOK_URL is set',
    }),
  ),
  PORTCULLIS_AUDIT_OTLP_URL: setting.optional(
    setting.url({
      help: 'OTLP/HTTP address for logs, which gets the entries of the audit log, such as https://collector:4318/v1/logs',
    }),
  ),
  PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for PORTCULLIS_AUDIT_OTLP_URL, read again on change; none is sent without it' }),
  ),
};

/** Receivers of the audit log. Secrets are paths of files. */
export type AuditExport = {
  readonly webhook: { readonly url: URL; readonly secretFile: string } | undefined;
  readonly otlp: { readonly url: URL; readonly tokenFile: string | undefined } | undefined;
};

type AuditExportValues = {
  readonly PORTCULLIS_AUDIT_WEBHOOK_URL: URL | undefined;
  readonly PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: string | undefined;
  readonly PORTCULLIS_AUDIT_OTLP_URL: URL | undefined;
  readonly PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: string | undefined;
};

/** @throws ConfigError for a webhook without a key, because its receiver could not verify who sent an entry */
export function auditExportOf(read: AuditExportValues): AuditExport {
  const { PORTCULLIS_AUDIT_WEBHOOK_URL: webhook, PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: secretFile } = read;
  const { PORTCULLIS_AUDIT_OTLP_URL: otlp, PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: tokenFile } = read;
  if (webhook !== undefined && secretFile === undefined) {
    throw new ConfigError([
      'PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE is missing: it must be set if PORTCULLIS_AUDIT_WEBHOOK_URL is set',
    ]);
  }
  return {
    webhook: webhook === undefined || secretFile === undefined ? undefined : { url: webhook, secretFile },
    otlp: otlp === undefined ? undefined : { url: otlp, tokenFile },
  };
}
