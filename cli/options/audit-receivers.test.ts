import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addAuditReceivers, auditReceiverSettings } from './audit-receivers.ts';

const file = import.meta.filename;

/** The settings of a command line, or the message with which the command line is refused. */
function settingsOf(...words: readonly string[]): unknown {
  const command = addAuditReceivers(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    return auditReceiverSettings(command.parse(words, { from: 'user' }).opts());
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test('options name the receivers of the audit log, and services keep their environment without them', () => {
  expect(settingsOf()).toEqual({});
  expect(settingsOf('--audit-webhook', 'https://siem.example/hook', '--audit-webhook-key', file)).toEqual({
    PORTCULLIS_AUDIT_WEBHOOK_URL: 'https://siem.example/hook',
    PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: file,
  });
  expect(settingsOf('--audit-otlp', 'http://collector:4318/v1/logs', '--audit-otlp-token', file)).toEqual({
    PORTCULLIS_AUDIT_OTLP_URL: 'http://collector:4318/v1/logs',
    PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: file,
  });
});

test('a webhook without a key, a token without a collector, another URL and an absent file are refused', () => {
  expect(settingsOf('--audit-webhook', 'https://siem.example')).toContain('--audit-webhook-key');
  expect(settingsOf('--audit-webhook-key', file)).toContain('--audit-webhook ');
  expect(settingsOf('--audit-otlp-token', file)).toContain('add --audit-otlp');
  expect(settingsOf('--audit-otlp', 'collector:4318')).toContain('http or https URL');
  expect(settingsOf('--audit-otlp', 'http://a', '--audit-otlp-token', `${file}.absent`)).toContain('can read');
});
