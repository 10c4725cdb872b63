import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiServer } from '../kube/open-api-server.ts';
import { startProcess } from '../support/start-process.ts';

/** Statuses and codes of a gateway for the same request over time. */
type Answers = ReadonlySet<string>;

type AskedGateway = AsyncDisposable & {
  /** Responses to a request whose text a policy denies, by alias. */
  answers(alias: string): Answers;
};

const key = 'client-key-of-a-test';
const pauseMs = 20;

/** A real gateway process that receives continuous requests for each alias from its start. */
export async function startAskedGateway(
  server: ApiServer,
  options: { readonly namespace: string; readonly replica: string; readonly folder: string; readonly text: string },
  aliases: readonly string[],
): Promise<AskedGateway> {
  const { namespace, replica, folder, text } = options;
  const account = `--serviceaccount=${namespace}:gateway`;
  await server.kubectl('-n', namespace, 'create', 'serviceaccount', 'gateway');
  await server.kubectl('create', 'clusterrolebinding', `gateway-${namespace}`, '--clusterrole=cluster-admin', account);
  const token = await server.kubectl('-n', namespace, 'create', 'token', 'gateway');
  mkdirSync(join(folder, 'secrets'), { recursive: true });
  const files = { 'api.token': token, 'runtime.token': 'a-token\n', 'client.keys': `${key} test\n` };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
  const gateway = await startProcess({
    file: 'dataplane/gateway/main.ts',
    environment: {
      PORTCULLIS_API_URL: server.controlPlane.url,
      PORTCULLIS_API_TOKEN_FILE: join(folder, 'api.token'),
      PORTCULLIS_API_CA_FILE: server.controlPlane.caFile,
      PORTCULLIS_NAMESPACE: namespace,
      PORTCULLIS_REPLICA: replica,
      PORTCULLIS_CLIENT_KEYS_FILE: join(folder, 'client.keys'),
      PORTCULLIS_RUNTIME_TOKEN_FILE: join(folder, 'runtime.token'),
      PORTCULLIS_SECRETS_DIR: join(folder, 'secrets'),
    },
  });
  const seen = new Map(aliases.map((alias) => [alias, new Set<string>()]));
  let isOpen = true;
  async function askAll(): Promise<void> {
    while (isOpen) {
      for (const alias of aliases) seen.get(alias)?.add(await ask(gateway.url, alias, text));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  const asking = askAll();
  return {
    answers: (alias) => seen.get(alias) ?? new Set(),
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await asking;
      await gateway[Symbol.asyncDispose]();
    },
  };
}

async function ask(url: string, model: string, content: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const body = (await answer.json()) as { readonly error?: { readonly code?: string } };
  return `${answer.status} ${body.error?.code ?? 'answered'}`;
}
