import { request } from 'undici';
import { z } from 'zod';
import { detectorContract } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';
import { type ConnectionFault, connectionFault } from '#kit/http/connection-fault';
import { openTokenFile } from '#kit/http/token-file';

/** What is wrong with a provider, one word for programs. */
type ProviderFault =
  | ConnectionFault
  | 'credential_missing'
  | 'credential_refused'
  | 'not_found'
  | 'status'
  | 'wrong_model';

/** `cause` is absent when the provider answered as it should. */
type ProviderFinding = { readonly cause?: ProviderFault; readonly message: string };

type TestOptions = {
  readonly credentialFile?: string;
  /** Must be in the list of models. */
  readonly model?: string;
  readonly timeoutMs: number;
};

const question = 'This is a test of the connection. Please answer it.';
const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Calls a provider once: the list of models of a model provider, one check of a detector, one completion of a
 * classifier. The message names the cause and the remedy, and contains no text of the provider and no secret.
 */
export async function testProvider(provider: ApprovedProvider, options: TestOptions): Promise<ProviderFinding> {
  const { credentialFile } = options;
  const credential = credentialFile === undefined ? undefined : readCredential(credentialFile);
  if (credentialFile !== undefined && credential === undefined) {
    const message = `the file ${credentialFile} of its credential is missing, unreadable or empty: write the key into it.`;
    return { cause: 'credential_missing', message };
  }
  const { url, body } = requestFor(provider);
  try {
    const answer = await request(url, {
      reset: true,
      signal: AbortSignal.timeout(options.timeoutMs),
      headers: {
        accept: 'application/json',
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (answer.statusCode !== 200) {
      answer.body.on('error', () => undefined).destroy();
      return statusFinding(answer.statusCode, provider);
    }
    const value: unknown = await answer.body.json().catch(() => undefined);
    return provider.kind === 'model' ? modelFinding(value, options.model) : { message: 'it answers.' };
  } catch (error) {
    const cause = connectionFault(error);
    return { cause, message: connectionSentence(cause, new URL(provider.endpoint)) };
  }
}

function readCredential(path: string): string | undefined {
  try {
    return openTokenFile(path).first();
  } catch {
    return undefined;
  }
}

function requestFor(provider: ApprovedProvider): { readonly url: string; readonly body?: unknown } {
  const messages = [{ role: 'user', content: question }];
  switch (provider.kind) {
    case 'model': {
      const url = new URL(provider.endpoint);
      url.pathname = `${url.pathname.replace(/\/+$/, '')}/models`;
      return { url: url.href };
    }
    case 'detector':
      return { url: provider.endpoint, body: { schema: detectorContract, stage: 'request', messages } };
    case 'classifier':
      return { url: provider.endpoint, body: { model: provider.model, messages, max_completion_tokens: 16 } };
  }
}

function statusFinding(status: number, provider: ApprovedProvider): ProviderFinding {
  switch (status) {
    case 401:
    case 403: {
      const remedy =
        provider.credential === undefined
          ? 'name a credential for it in providers.yaml.'
          : `replace the key in secrets/${provider.credential}.`;
      return { cause: 'credential_refused', message: `it refuses the credential (status ${status}): ${remedy}` };
    }
    case 404: {
      const what = provider.kind === 'classifier' ? `path or model ${provider.model}` : 'path';
      return { cause: 'not_found', message: `it does not know this ${what} (status 404): correct providers.yaml.` };
    }
    default:
      return { cause: 'status', message: `it answers with status ${status} instead of 200: see its own log.` };
  }
}

function modelFinding(value: unknown, model: string | undefined): ProviderFinding {
  const read = modelListSchema.safeParse(value);
  const ids = read.success ? read.data.data.map(({ id }) => id) : undefined;
  if (model === undefined)
    return { message: ids === undefined ? 'it answers.' : `it answers with ${ids.length} models.` };
  if (ids?.includes(model) === true) return { message: `it answers and lists the model ${model}.` };
  return {
    cause: 'wrong_model',
    message: `its list of models does not contain ${model}: correct spec.model.upstreamModel of the binding.`,
  };
}

function connectionSentence(cause: ConnectionFault, { hostname, host, protocol }: URL): string {
  switch (cause) {
    case 'name_not_found':
      return `the name ${hostname} cannot be resolved: correct the endpoint or the DNS.`;
    case 'refused':
      return `no program accepts connections at ${host}: start the provider or correct the endpoint.`;
    case 'certificate':
      return `the certificate of ${host} is not valid here: add its authority with NODE_EXTRA_CA_CERTS, or renew it.`;
    case 'tls':
      return `${host} does not speak ${protocol.slice(0, -1)}: correct the scheme of the endpoint.`;
    case 'timeout':
      return `${host} does not answer in time: check the network and firewall.`;
    case 'network':
      return `the connection to ${host} fails: check the network and the provider.`;
  }
}
