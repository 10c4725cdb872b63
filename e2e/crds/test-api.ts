import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { root } from '../../hack/check/run-tool.ts';
import { goModules } from '../../hack/cluster/build/go-modules.ts';
import { sourceKey } from '../../hack/cluster/build/module-key.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../hack/cluster/control-plane.ts';
import { kubectl, kubectlOk } from '../../hack/cluster/kubectl.ts';
import { cacheFolder } from '../../hack/cluster/places.ts';
import type { ProgramEnd } from '../support/run-to-end.ts';
import { until } from '../support/until.ts';

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
  /** Bearer token; without one the caller may do everything. */
  readonly token?: string;
};

/** A real API server with the definitions, admission policies and roles of Portcullis, and the namespace `test`. */
type TestApi = {
  readonly controlPlane: () => ControlPlane;
  readonly kubectl: (args: readonly string[], input?: string) => Promise<ProgramEnd>;
  /** Like kubectl, for a command that must succeed. @returns standard output */
  readonly kubectlOk: (args: readonly string[], input?: string) => Promise<string>;
  readonly send: (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options?: SendOptions,
  ) => Promise<ApiServerResponse>;
};

export const testNamespace = 'test';

/** Path of a collection of a Portcullis kind, with strict validation like kubectl. */
export function collection(plural: string, query = 'fieldValidation=Strict'): string {
  return `/apis/portcullis.dev/v1alpha1/namespaces/${testNamespace}/${plural}?${query}`;
}

export function item(plural: string, name: string, query = 'fieldValidation=Strict'): string {
  return collection(`${plural}/${name}`, query);
}

/** Reason why no API server can be started; undefined when one is built. */
function findObstacle(): string | undefined {
  const module = goModules.find(({ programs }) => programs['kube-apiserver'] !== undefined);
  const home = join(cacheFolder(), 'programs', module?.name ?? '');
  const prefix = module === undefined ? '' : `${sourceKey(module)}-`;
  const isBuilt = (existsSync(home) ? readdirSync(home) : []).some(
    (key) => key.startsWith(prefix) && existsSync(join(home, key, 'kubectl')),
  );
  return isBuilt ? undefined : "kube-apiserver is not built here: 'npm run cluster -- build' builds it";
}

/** Starts an API server before the tests of a file and stops it afterwards; skips them when none is built. */
export function useTestApi(options: Pick<ControlPlaneOptions, 'controllers' | 'apiServerFlags'> = {}): TestApi {
  const obstacle = findObstacle();
  let running: ControlPlane | undefined;
  let agent: Agent | undefined;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    running = await startControlPlane(options);
    agent = new Agent({ connect: { ca: readFileSync(running.caFile) } });
    await install(api);
  });
  afterAll(async () => {
    await agent?.close();
    await running?.[Symbol.asyncDispose]();
  });
  beforeEach((context) => {
    if (obstacle !== undefined) context.skip(obstacle);
  });

  const controlPlane = (): ControlPlane => {
    if (running === undefined) throw new TypeError('the API server runs while tests do');
    return running;
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

/** Applies the files like a user, and waits until the API server enforces them. */
async function install(api: TestApi): Promise<void> {
  const folders = ['crds', 'crds/admission', 'crds/roles'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => `--filename=${join(root, folder, name)}`),
  );
  await api.kubectlOk(['apply', '--server-side', ...files]);
  await api.kubectlOk(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
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
