import { readEnvironment, setting } from '#kit/env/read-environment';
import type { TraceExport } from '#kit/trace/export-spans';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';

/** Settings of the runtime; the bundle contains everything about policies and limits. */
const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address on which checks are served', default: '127.0.0.1:8000' }),
  PORTCULLIS_BUNDLE_FILE: setting.path({ help: 'file of the policy bundle, loaded once at start' }),
  PORTCULLIS_TOKEN_FILE: setting.file({
    help: 'file of service tokens of callers, one or two lines, read again on change',
  }),
  PORTCULLIS_SECRETS_DIR: setting.optional(
    setting.path({
      help: 'folder of provider credentials, one file each; required when the bundle has a rule with a provider',
    }),
  ),
  PORTCULLIS_TERMINATION_MESSAGE_FILE: setting.optional(
    setting.path({ help: 'file for the reason when the bundle cannot be loaded' }),
  ),
  ...traceSettings,
};

export type RuntimeConfig = {
  readonly listen: { readonly host: string; readonly port: number };
  readonly bundleFile: string;
  readonly terminationMessageFile: string | undefined;
  readonly traces: TraceExport | undefined;
};

/** Paths of secrets; each secret is read at the time of its use. */
export type RuntimeSecrets = { readonly tokenFile: string; readonly secretsDirectory: string | undefined };

/** Reads the environment once. @throws ConfigError with every invalid setting */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: RuntimeConfig;
  readonly secrets: RuntimeSecrets;
} {
  const values = readEnvironment(settings, env);
  return {
    config: {
      listen: values.PORTCULLIS_LISTEN,
      bundleFile: values.PORTCULLIS_BUNDLE_FILE,
      terminationMessageFile: values.PORTCULLIS_TERMINATION_MESSAGE_FILE,
      traces: traceExportOf(values),
    },
    secrets: { tokenFile: values.PORTCULLIS_TOKEN_FILE, secretsDirectory: values.PORTCULLIS_SECRETS_DIR },
  };
}
