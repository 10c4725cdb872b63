import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { kubectl, kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import type { ControlPlane } from '../../hack/cluster/life/start-control-plane.ts';
import { type ApiServer, missingApiServer, openApiServer } from '../kube/open-api-server.ts';
import { openSharedApiServer } from '../kube/shared-api-server.ts';

export type ApiServerResponse = { readonly status: number; readonly body: ApiObject };
/** An object or Status of a response. */
export type ApiObject = { readonly [member: string]: unknown } & {
  readonly kind?: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
};

type SendOptions = {
  readonly body?: unknown;
  readonly contentType?: string;
  /** Bearer token; a caller without a token may do everything. */
  readonly token?: string;
};

/** A real API server with the definitions, admission policies and roles of Portcullis, and a namespace for the file. */
type TestApi = {
  readonly controlPlane: () => ControlPlane;
  readonly kubectl: (args: readonly string[], input?: string) => Promise<ProgramEnd>;
  /** Runs kubectl and throws when the command fails. @returns standard output */
  readonly kubectlOk: (args: readonly string[], input?: string) => Promise<string>;
  readonly send: (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options?: SendOptions,
  ) => Promise<ApiServerResponse>;
};

/** Namespace that only this test file uses. */
export const testNamespace = `crds-${randomBytes(4).toString('hex')}`;

/** Path of a collection of a Portcullis kind, with strict validation like kubectl. */
export function collection(plural: string, query = 'fieldValidation=Strict'): string {
  return `/apis/portcullis.dev/v1alpha1/namespaces/${testNamespace}/${plural}?${query}`;
}

export function item(plural: string, name: string, query = 'fieldValidation=Strict'): string {
  return collection(`${plural}/${name}`, query);
}

/**
 * Uses the shared API server for the tests of a file, or a separate one with these flags; skips the tests if no API
 * server is built.
 */
export function useTestApi(apiServerFlags?: readonly string[]): TestApi {
  let opened: ApiServer | undefined;
  let agent: Agent | undefined;

  beforeAll(async () => {
    if (missingApiServer !== undefined) return;
    opened = await (apiServerFlags === undefined ? openSharedApiServer() : openApiServer({ apiServerFlags }));
    agent = new Agent({ connect: { ca: readFileSync(controlPlane().caFile) } });
    await install(api);
  });
  afterAll(async () => {
    await agent?.close();
    await opened?.[Symbol.asyncDispose]();
  });
  beforeEach((context) => {
    if (missingApiServer !== undefined) context.skip(missingApiServer);
  });

  const controlPlane = (): ControlPlane => {
    if (opened === undefined) throw new TypeError('the API server runs only while tests run');
    return opened.controlPlane;
  };
  const adminAgent = (): Agent => {
    const { caFile, adminCertificateFile, adminKeyFile } = controlPlane();
    const [ca, cert, key] = [caFile, adminCertificateFile, adminKeyFile].map((file) => readFileSync(file));
    return new Agent({ connect: { ca, cert, key } });
  };
  let admin: Agent | undefined;
  const api: TestApi = {
    controlPlane,
    kubectl: (args, input) => kubectl(controlPlane().kubeconfigFile, args, input),
    kubectlOk: (args, input) => kubectlOk(controlPlane().kubeconfigFile, args, input),
    send: async (method, path, { body, contentType = 'application/json', token } = {}) => {
      admin ??= adminAgent();
      const { statusCode, body: answer } = await request(`${controlPlane().url}${path}`, {
        method,
        dispatcher: token === undefined ? admin : (agent ?? admin),
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': contentType }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: statusCode, body: (await answer.json()) as ApiObject };
    },
  };
  afterAll(() => admin?.close());
  return api;
}

/**
 * Adds the roles and the namespace to the objects that every API server has, and waits until the admission policies are
 * enforced.
 */
async function install(api: TestApi): Promise<void> {
  await api.kubectlOk(['apply', '--server-side', `--filename=${join(root, 'crds', 'roles')}`]);
  await api.kubectlOk(['create', 'namespace', testNamespace]);
  // Admission policies are enforced shortly after they are stored.
  const wrong = {
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'ModelBinding',
    metadata: { name: 'probe' },
    spec: unguarded,
  };
  const labelled = { ...wrong, metadata: { name: 'probe', labels: { 'portcullis.dev/id': 'no-id' } } };
  await until('the admission policies are in force', async () => {
    const { status } = await api.send('POST', collection('modelbindings', 'dryRun=All'), { body: labelled });
    return status === 422;
  });
}

const unguarded = {
  model: { alias: 'probe', provider: 'echo', upstreamModel: 'echo', state: 'Enabled' },
  gateway: 'default',
  guardrail: { mode: 'None' },
  contentProfile: 'gateway-1.5.0-chat-webhook-v2',
  replicas: 1,
};
