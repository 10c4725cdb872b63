import type { DataDirectory } from '../platform/data-directory.ts';
import type { ChildSpec, ProcessKind, ReadyLine } from './child.ts';

/** The entry points of the platform, relative to the checkout. */
export const entries: Readonly<Record<ProcessKind, string>> = {
  operator: 'operator/main.ts',
  gateway: 'dataplane/gateway/main.ts',
  echo: 'dataplane/echo/main.ts',
};

const anyPort = '127.0.0.1:0';

export function operatorProcess(data: DataDirectory): ChildSpec {
  return {
    name: 'operator',
    kind: 'operator',
    file: entries.operator,
    env: { PORTCULLIS_DATA_DIR: data.root, PORTCULLIS_API_LISTEN: anyPort, PORTCULLIS_LISTEN: anyPort },
  };
}

/** The replica of a number from 1 on; `port` 0 takes a free one. */
export function gatewayProcess(data: DataDirectory, number: number, port: number, api: string): ChildSpec {
  const name = `gateway-${number}`;
  return {
    name,
    kind: 'gateway',
    file: entries.gateway,
    env: {
      PORTCULLIS_API_URL: api,
      PORTCULLIS_API_TOKEN_FILE: data.apiToken,
      PORTCULLIS_REPLICA: name,
      PORTCULLIS_LISTEN: `127.0.0.1:${port}`,
      PORTCULLIS_ADMIN_LISTEN: anyPort,
      PORTCULLIS_CLIENT_AUTH: 'keys',
      PORTCULLIS_CLIENT_KEYS_FILE: data.clientKeys,
      PORTCULLIS_RUNTIME_TOKEN_FILE: data.runtimeToken,
      PORTCULLIS_SECRETS_DIR: data.secrets,
    },
  };
}

export function echoProcess(port: number): ChildSpec {
  return { name: 'echo', kind: 'echo', file: entries.echo, env: { PORTCULLIS_LISTEN: `127.0.0.1:${port}` } };
}

/** Keeps an operator that is started again where the gateways and the status file know it to be. */
export function pinOperator(line: ReadyLine): Record<string, string> {
  return { PORTCULLIS_API_LISTEN: hostOf(apiOf(line)), PORTCULLIS_LISTEN: hostOf(line.listening) };
}

export function pinGateway(line: ReadyLine): Record<string, string> {
  return { PORTCULLIS_LISTEN: hostOf(line.listening) };
}

/** Where an operator serves the resources. */
export function apiOf(line: ReadyLine): string {
  if (typeof line['api'] !== 'string') throw new Error('the operator does not say where it serves the resources');
  return line['api'];
}

/** Where a gateway tells how it is. */
export function adminOf(line: ReadyLine): string {
  if (typeof line['admin'] !== 'string') throw new Error('the gateway does not say where it tells how it is');
  return line['admin'];
}

function hostOf(url: string): string {
  return new URL(url).host;
}
