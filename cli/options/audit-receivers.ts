import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../errors/cli-error.ts';

export type AuditReceiverOptions = {
  readonly auditWebhook?: string;
  readonly auditWebhookKey?: string;
  readonly auditOtlp?: string;
  readonly auditOtlpToken?: string;
};

export function addAuditReceivers(command: Command): Command {
  return command
    .option('--audit-webhook <url>', 'send the audit log of each service to this webhook', httpUrl)
    .option('--audit-webhook-key <file>', 'with --audit-webhook: file with the key of its signatures', readableFile)
    .option('--audit-otlp <url>', 'send the audit log of each service to this OTLP/HTTP address for logs', httpUrl)
    .option('--audit-otlp-token <file>', 'with --audit-otlp: file with a bearer token', readableFile);
}

/**
 * The settings of the services that write the audit log. A service takes the values that no option sets from the
 * environment.
 * @throws CliError usage for an option without the option that it requires
 */
export function auditReceiverSettings(options: AuditReceiverOptions): Readonly<Record<string, string>> {
  const { auditWebhook, auditWebhookKey, auditOtlp, auditOtlpToken } = options;
  if ((auditWebhook === undefined) !== (auditWebhookKey === undefined)) {
    throw new CliError(
      'usage',
      'A webhook gets signed entries only: give both --audit-webhook and --audit-webhook-key.',
    );
  }
  if (auditOtlpToken !== undefined && auditOtlp === undefined) {
    throw new CliError('usage', '--audit-otlp-token is sent to the address of --audit-otlp: add --audit-otlp.');
  }
  const settings = {
    PORTCULLIS_AUDIT_WEBHOOK_URL: auditWebhook,
    PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: auditWebhookKey,
    PORTCULLIS_AUDIT_OTLP_URL: auditOtlp,
    PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: auditOtlpToken,
  };
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new InvalidArgumentError('It must be an http or https URL, for example https://collector:4318/v1/logs.');
}

function readableFile(text: string): string {
  const path = resolve(text);
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch {
    throw new InvalidArgumentError('It must be a file that this account can read.');
  }
}
