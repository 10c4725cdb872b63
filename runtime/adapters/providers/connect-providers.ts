import { join } from 'node:path';
import { Agent } from 'undici';
import type { Bundle, BundleProvider } from '#contracts/bundle';
import { openTokenFile, type TokenFile, TokenFileError } from '#kit/http/token-file';
import type { Clock } from '#kit/time/clock';
import { BundleError } from '../../bundle/bundle-error.ts';
import { type AskOf, providerNameOf } from '../../bundle/compile-section.ts';
import { createClassifier } from './ask-classifier.ts';
import { createDetector } from './ask-detector.ts';
import { type NoteProvider, noteCause } from './note-cause.ts';

/** The connections to the providers of a bundle. */
type Providers = AsyncDisposable & { readonly askOf: AskOf };

/**
 * Connects the providers that rules of the bundle name. Each credential is a file of the secrets folder, read when it
 * is used and again when it changes; if a credential is missing at the start, the bundle is refused.
 * @throws BundleError from `askOf` when the folder or a credential is missing
 */
export function connectProviders(
  bundle: Pick<Bundle, 'providers'>,
  options: {
    readonly secretsDirectory: string | undefined;
    readonly connections: number;
    readonly clock: Clock;
    /** Returns the function to which the outcome of each call to a provider is reported. */
    readonly noteOf: (provider: string) => NoteProvider;
  },
): Providers {
  const dispatcher = new Agent({ connections: options.connections, pipelining: 1 });
  const providers = new Map(bundle.providers.map((provider) => [provider.name, provider]));
  const credentials = new Map<string, TokenFile>();

  function credentialOf(provider: BundleProvider): TokenFile {
    const known = credentials.get(provider.credential);
    if (known !== undefined) return known;
    const opened = openCredential(provider, options);
    credentials.set(provider.credential, opened);
    return opened;
  }

  return {
    askOf(rule) {
      const provider = providers.get(providerNameOf(rule));
      if (provider === undefined)
        throw new BundleError('bundle_invalid', `provider ${providerNameOf(rule)} is missing`);
      const call = { dispatcher, endpoint: provider.endpoint, credential: credentialOf(provider) };
      const note = options.noteOf(provider.name);
      if (rule.kind === 'external_pipeline') return noteCause(createDetector(call), note);
      if (provider.kind !== 'classifier')
        throw new BundleError('bundle_invalid', `${provider.name} is not a classifier`);
      const { model } = provider;
      return noteCause(createClassifier(call, { model, instruction: rule.llmClassifier.instruction.text }), note);
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

function openCredential(
  provider: BundleProvider,
  { secretsDirectory: directory, clock }: { readonly secretsDirectory: string | undefined; readonly clock: Clock },
): TokenFile {
  if (directory === undefined) {
    throw new BundleError(
      'bundle_invalid',
      `provider ${provider.name} needs the credential ${provider.credential}: set PORTCULLIS_SECRETS_DIR`,
    );
  }
  try {
    return openTokenFile(join(directory, provider.credential), clock);
  } catch (error) {
    if (!(error instanceof TokenFileError)) throw error;
    throw new BundleError('bundle_invalid', `provider ${provider.name}: ${error.message}`);
  }
}
