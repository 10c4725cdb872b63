import type { KeyPlace } from '#identity/key-cache';
import { confirmersOf } from '#identity/mcp-confirmers';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { LOG_LEVELS, type LogLevel } from '#kit/log/logger';
import type { TraceExport } from '#kit/trace/export-spans';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';
import type { FilePlace } from './files/open-files.ts';

const port = { min: 0, max: 65_535, default: 0 };

export const settings = {
  PORTCULLIS_AGENT_BUNDLE: setting.path({
    help: 'JSON file of one version of an agent; the process is not ready while it is missing or invalid',
  }),
  PORTCULLIS_AGENT_HOST: setting.string({ help: 'address of both ports', default: '127.0.0.1' }),
  PORTCULLIS_AGENT_PORT: setting.integer({ help: 'port for calls of the gateway; 0 chooses a free one', ...port }),
  PORTCULLIS_ADMIN_PORT: setting.integer({
    help: 'port of /livez, /readyz, /metrics, /state and /runs; 0 chooses a free one',
    ...port,
  }),
  PORTCULLIS_IDENTITY: setting.choice({
    help: 'production: calls have a token of the gateway; development: headers name the caller, without authentication',
    choices: ['production', 'development'],
  }),
  PORTCULLIS_GATEWAY_ISSUER: setting.optional(
    setting.string({ help: 'issuer of the tokens of the gateway; required if PORTCULLIS_IDENTITY is production' }),
  ),
  PORTCULLIS_GATEWAY_KEYS_FILE: setting.optional(
    setting.file({
      help: 'JWKS file of the gateway; when absent, production mode takes the keys from PORTCULLIS_AGENT_GATEWAY_URL',
    }),
  ),
  PORTCULLIS_MODEL_GATEWAY_URL: setting.optional(
    setting.url({ help: 'address of the model gateway, to which /v1 is added; required where the flow names a model' }),
  ),
  PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: setting.optional(
    setting.file({ help: 'client key of this process at the model gateway, read again on change' }),
  ),
  PORTCULLIS_AGENT_GATEWAY_URL: setting.optional(
    setting.url({
      help: 'address of the agent gateway, for tokens of runs and for calls of other agents; required where the flow names an agent, a collection or the memory',
    }),
  ),
  PORTCULLIS_RETRIEVAL_URL: setting.optional(
    setting.url({ help: 'address of the retrieval service; required where the flow names a collection' }),
  ),
  PORTCULLIS_MEMORY_URL: setting.optional(
    setting.url({ help: 'address of the memory service; required where the flow uses memories or session states' }),
  ),
  PORTCULLIS_POLICY_TARGETS_DIR: setting.optional(
    setting.path({ help: 'folder of NAME.json for each policy that the version names, as the operator writes them' }),
  ),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for the guardrail runtimes; required with PORTCULLIS_POLICY_TARGETS_DIR' }),
  ),
  PORTCULLIS_FILES_DIR: setting.optional(
    setting.path({
      help: 'folder of files for file references; must be writable and excludes PORTCULLIS_FILE_SERVICE_URL',
    }),
  ),
  PORTCULLIS_FILES_ISSUER: setting.optional(
    setting.string({ help: 'issuer of the capabilities of file references; required with PORTCULLIS_FILES_DIR' }),
  ),
  PORTCULLIS_FILES_KEYS_FILE: setting.optional(
    setting.file({ help: 'JWKS file of that issuer; required with PORTCULLIS_FILES_DIR' }),
  ),
  PORTCULLIS_FILE_SERVICE_URL: setting.optional(
    setting.url({ help: 'address of a file service, to which /v1 is added (docs/file-service.md)' }),
  ),
  PORTCULLIS_FILE_SERVICE_TOKEN_FILE: setting.optional(
    setting.file({ help: 'client key of this process at the file service, read again on change' }),
  ),
  PORTCULLIS_MCP_CONFIRMERS: setting.optional(
    setting.list({
      help: 'issuer|subject of the people who may call MCP while its profile is confirmed; all others get 404',
    }),
  ),
  ...traceSettings,
  PORTCULLIS_LOG_LEVEL: setting.choice({ help: 'minimum level of log lines', choices: LOG_LEVELS, default: 'info' }),
};

/** The modes exclude each other: production mode does not read the headers of development mode. */
type AgentIdentity =
  | { readonly mode: 'production'; readonly issuer: string; readonly keys: KeyPlace }
  | { readonly mode: 'development' };

export type AgentConfig = {
  readonly bundleFile: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly identity: AgentIdentity;
  /** The services that flows call. */
  readonly services: {
    readonly modelGateway: URL | undefined;
    readonly agentGateway: URL | undefined;
    readonly retrieval: URL | undefined;
    readonly memory: URL | undefined;
  };
  readonly policyTargets: string | undefined;
  /** The place of files; if undefined, a version with files enabled is not ready. */
  readonly files: FilePlace | undefined;
  readonly mcpConfirmers: readonly string[];
  /** Settings of the collector of spans; if undefined, spans are not recorded. */
  readonly traces: TraceExport | undefined;
  readonly logLevel: LogLevel;
};

/** Paths of secret files; each component reads its own. */
export type AgentSecrets = {
  readonly modelGatewayTokenFile: string | undefined;
  readonly runtimeTokenFile: string | undefined;
  readonly fileServiceTokenFile: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: AgentConfig;
  readonly secrets: AgentSecrets;
} {
  const read = readEnvironment(settings, env);
  const policyTargets = read.PORTCULLIS_POLICY_TARGETS_DIR;
  const runtimeTokenFile = read.PORTCULLIS_RUNTIME_TOKEN_FILE;
  if (policyTargets !== undefined && runtimeTokenFile === undefined) {
    throw new ConfigError([
      'PORTCULLIS_RUNTIME_TOKEN_FILE is missing: it must be set with PORTCULLIS_POLICY_TARGETS_DIR',
    ]);
  }
  return {
    config: {
      bundleFile: read.PORTCULLIS_AGENT_BUNDLE,
      host: read.PORTCULLIS_AGENT_HOST,
      port: read.PORTCULLIS_AGENT_PORT,
      adminPort: read.PORTCULLIS_ADMIN_PORT,
      identity: identityOf(read),
      services: {
        modelGateway: read.PORTCULLIS_MODEL_GATEWAY_URL,
        agentGateway: read.PORTCULLIS_AGENT_GATEWAY_URL,
        retrieval: read.PORTCULLIS_RETRIEVAL_URL,
        memory: read.PORTCULLIS_MEMORY_URL,
      },
      policyTargets,
      files: filePlaceOf(read),
      mcpConfirmers: confirmersOf(read.PORTCULLIS_MCP_CONFIRMERS),
      traces: traceExportOf(read),
      logLevel: read.PORTCULLIS_LOG_LEVEL,
    },
    secrets: {
      modelGatewayTokenFile: read.PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE,
      runtimeTokenFile,
      fileServiceTokenFile: read.PORTCULLIS_FILE_SERVICE_TOKEN_FILE,
    },
  };
}

function filePlaceOf({
  PORTCULLIS_FILES_DIR: root,
  PORTCULLIS_FILES_ISSUER: issuer,
  PORTCULLIS_FILES_KEYS_FILE: keysFile,
  PORTCULLIS_FILE_SERVICE_URL: url,
}: Partial<{
  readonly [Name in 'PORTCULLIS_FILES_DIR' | 'PORTCULLIS_FILES_ISSUER' | 'PORTCULLIS_FILES_KEYS_FILE']:
    | string
    | undefined;
}> & { readonly PORTCULLIS_FILE_SERVICE_URL?: URL | undefined }): FilePlace | undefined {
  const given = [root, issuer, keysFile].filter((one) => one !== undefined).length;
  if (given > 0 && url !== undefined) {
    throw new ConfigError(['PORTCULLIS_FILES_DIR and PORTCULLIS_FILE_SERVICE_URL exclude each other: remove one']);
  }
  if (url !== undefined) return { kind: 'service', url };
  if (given === 0) return undefined;
  if (root === undefined || issuer === undefined || keysFile === undefined) {
    throw new ConfigError([
      'PORTCULLIS_FILES_DIR, PORTCULLIS_FILES_ISSUER and PORTCULLIS_FILES_KEYS_FILE must be set together',
    ]);
  }
  return { kind: 'folder', root, issuer, keysFile };
}

function identityOf({
  PORTCULLIS_IDENTITY: mode,
  PORTCULLIS_GATEWAY_ISSUER: issuer,
  PORTCULLIS_GATEWAY_KEYS_FILE: file,
  PORTCULLIS_AGENT_GATEWAY_URL: gateway,
}: {
  readonly PORTCULLIS_IDENTITY: 'production' | 'development';
  readonly PORTCULLIS_GATEWAY_ISSUER: string | undefined;
  readonly PORTCULLIS_GATEWAY_KEYS_FILE: string | undefined;
  readonly PORTCULLIS_AGENT_GATEWAY_URL: URL | undefined;
}): AgentIdentity {
  if (mode === 'development') {
    if (issuer === undefined && file === undefined) return { mode };
    const names = 'PORTCULLIS_GATEWAY_ISSUER and PORTCULLIS_GATEWAY_KEYS_FILE';
    throw new ConfigError([`${names} are set: in development mode no token is verified, so remove them`]);
  }
  const keys = file === undefined ? keysOf(gateway) : { file };
  if (issuer !== undefined && keys !== undefined) return { mode, issuer, keys };
  throw new ConfigError([
    'PORTCULLIS_GATEWAY_ISSUER and either PORTCULLIS_GATEWAY_KEYS_FILE or PORTCULLIS_AGENT_GATEWAY_URL must be set if PORTCULLIS_IDENTITY is production',
  ]);
}

/** The address at which a gateway publishes its keys. */
function keysOf(gateway: URL | undefined): URL | undefined {
  return gateway && new URL(`${gateway.href.replace(/\/+$/, '')}/.well-known/jwks.json`);
}
