import { request } from 'undici';
import { z } from 'zod';
import { detectorContract } from '#contracts/policy';
import { type ProviderCause, providerProblems } from '#contracts/provider-causes';
import { type ProviderTestStep, providerTestSteps } from '#contracts/provider-test';
import { type ApprovedProvider, detectorAnswerSchema } from '#contracts/providers';
import { connectionFault } from '#kit/http/connection-fault';
import { readBounded } from '#kit/http/read-bounded';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { checkConnection } from './check-connection.ts';
import { type CredentialReading, readCredentialFile } from './credential-cause.ts';

/** The fault of a provider, as one word for programs. */
type ProviderFault = ProviderCause | 'status' | 'wrong_model';

/** `cause` is absent when the provider answered as it should. */
type ProviderFinding = {
  readonly cause?: ProviderFault;
  readonly message: string;
  readonly steps: ProviderTestStep[];
};

type TestOptions = {
  /** The file of the credential; absent when the provider has none. */
  readonly credentialFile?: string;
  /** Name of a model that must be in the list of models. */
  readonly model?: string;
  readonly timeoutMs: number;
};

type StepName = ProviderTestStep['step'];
type Failure = { readonly cause: ProviderFault; readonly message: string };

const question = 'This is a test of the connection. Please answer it.';
/** Maximum number of bytes of a list of models; a larger answer is not a list of models. */
const modelListBytes = 4_194_304;
/** Maximum number of bytes of a decision or completion, as in the runtime. */
const decisionBytes = 65_536;

const completionSchema = z.object({ choices: z.array(z.object({ message: z.object({}) })).min(1) });
const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Tests a provider in steps: its credential, the name of its host, the connection, the certificate, and one HTTP call:
 * the list of models of a model provider, one check of a detector, one completion of a classifier. The message names the
 * cause and the remedy, and contains no text of the provider and no secret. Never rejects.
 */
export async function testProvider(provider: ApprovedProvider, options: TestOptions): Promise<ProviderFinding> {
  const { credentialFile } = options;
  const signal = AbortSignal.timeout(options.timeoutMs);
  const passed: StepName[] = [];
  const failed = (step: StepName, { cause, message }: Failure): ProviderFinding => ({
    cause,
    message,
    steps: stepsOf(passed, step),
  });
  const credential = credentialFile === undefined ? undefined : readCredentialFile(credentialFile);
  if (credential?.ok === false) return failed('credential', credentialFailure(credential, credentialFile ?? ''));
  if (credential !== undefined) passed.push('credential');
  const endpoint = new URL(provider.endpoint);
  const connection = await checkConnection(endpoint, signal);
  passed.push(...connection.passed);
  if (connection.failed !== undefined) {
    const { step, cause } = connection.failed;
    return failed(step, { cause, message: connectionSentence(cause, endpoint) });
  }
  const answer = await callOnce(provider, credential?.token, signal);
  if (!answer.ok) return failed('http', answer.failure);
  if (provider.kind !== 'model') {
    const invalid = decisionProblem(provider.kind, answer.value);
    if (invalid !== undefined) return failed('http', invalid);
    passed.push('http');
    return { message: 'it answers.', steps: stepsOf(passed) };
  }
  passed.push('http');
  const found = modelFinding(answer.value, options.model);
  if ('cause' in found) return failed('model', found);
  if (options.model !== undefined) passed.push('model');
  return { ...found, steps: stepsOf(passed) };
}

function stepsOf(passed: readonly StepName[], failed?: StepName): ProviderTestStep[] {
  return providerTestSteps.map((step) => {
    if (step === failed) return { step, state: 'failed' };
    return { step, state: passed.includes(step) ? 'ok' : 'skipped' };
  });
}

function credentialFailure({ cause }: CredentialReading & { readonly ok: false }, path: string): Failure {
  switch (cause) {
    case 'credential_missing':
      return { cause, message: `the file ${path} of its credential is missing: write the key into it.` };
    case 'credential_unreadable':
      return { cause, message: `the file ${path} of its credential is unreadable or empty: write one key into it.` };
  }
}

async function callOnce(
  provider: ApprovedProvider,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure }> {
  const { url, body } = requestFor(provider);
  try {
    const answer = await request(url, {
      reset: true,
      signal,
      headers: {
        accept: 'application/json',
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (answer.statusCode === 200) {
      const bytes = await readBounded(answer.body, provider.kind === 'model' ? modelListBytes : decisionBytes);
      return { ok: true, value: bytes === undefined ? undefined : jsonOrUndefined(bytes) };
    }
    answer.body.on('error', () => undefined).destroy();
    return { ok: false, failure: statusFailure(answer.statusCode, provider) };
  } catch (error) {
    const cause = connectionFault(error);
    return { ok: false, failure: { cause, message: connectionSentence(cause, new URL(provider.endpoint)) } };
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

function statusFailure(status: number, provider: ApprovedProvider): Failure {
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
    case 429:
      return {
        cause: 'rate_limited',
        message: `it limits the rate of requests (status 429): wait, or raise the limit.`,
      };
    default:
      return { cause: 'status', message: `it answers with status ${status} instead of 200: see its own log.` };
  }
}

/** Why the answer of a detector or classifier is invalid; the runtime would refuse every text because of it. */
function decisionProblem(kind: 'detector' | 'classifier', value: unknown): Failure | undefined {
  const schema = kind === 'detector' ? detectorAnswerSchema : completionSchema;
  if (schema.safeParse(value).success) return undefined;
  const form = kind === 'detector' ? `decision of the contract ${detectorContract}` : 'completion of the OpenAI API';
  const message = `its answer is not a ${form}: correct the endpoint in providers.yaml, or the provider.`;
  return { cause: 'invalid_answer', message };
}

function modelFinding(value: unknown, model: string | undefined): Failure | { readonly message: string } {
  const read = modelListSchema.safeParse(value);
  if (!read.success) {
    return {
      cause: 'invalid_answer',
      message: 'its answer is not a list of models of the OpenAI API: correct the endpoint in providers.yaml.',
    };
  }
  const ids = read.data.data.map(({ id }) => id);
  if (model === undefined) return { message: `it answers with ${ids.length} models.` };
  if (ids.includes(model)) return { message: `it answers and lists the model ${model}.` };
  return {
    cause: 'wrong_model',
    message: `its list of models does not contain ${model}: correct spec.model.upstreamModel of the binding.`,
  };
}

function connectionSentence(cause: ProviderCause, { hostname, host, protocol }: URL): string {
  switch (cause) {
    case 'name_not_found':
      return `the name ${hostname} cannot be resolved: correct the endpoint or the DNS.`;
    case 'refused':
      return `no program accepts connections at ${host}: start the provider or correct the endpoint.`;
    case 'certificate_untrusted':
      return `the certificate of ${host} is signed by an unknown authority: add it with NODE_EXTRA_CA_CERTS.`;
    case 'tls':
      return `${host} does not speak ${protocol.slice(0, -1)}: correct the scheme of the endpoint.`;
    default: {
      const { problem, remedy } = providerProblems[cause];
      return `${problem} (${host}): ${remedy}.`;
    }
  }
}
