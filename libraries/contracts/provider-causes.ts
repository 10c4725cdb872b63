/**
 * Why a provider of models does not serve requests, or a detector or classifier does not judge texts. A label of metrics,
 * and a value of reports, logs and verdicts.
 */
export const providerCauses = [
  'credential_missing',
  'credential_unreadable',
  'credential_refused',
  'name_not_found',
  'refused',
  'timeout',
  'certificate_untrusted',
  'certificate_expired',
  'certificate_wrong_host',
  'tls',
  'network',
  'not_found',
  'model_not_found',
  'rate_limited',
  'invalid_answer',
  'unexpected_status',
] as const;
export type ProviderCause = (typeof providerCauses)[number];

type Description = {
  /** Reason of the condition ProviderReachable. */
  readonly reason: string;
  /**
   * The failure as a clause whose subject is "the provider". The clause names no host, no file and no text of the
   * provider.
   */
  readonly problem: string;
  readonly remedy: string;
};

/** The problems of providers of models. */
export const providerProblems: Readonly<Record<ProviderCause, Description>> = {
  credential_missing: {
    reason: 'CredentialMissing',
    problem: 'its credential does not exist',
    remedy: 'create the file or the key of the Secret that providers.yaml names',
  },
  credential_unreadable: {
    reason: 'CredentialUnreadable',
    problem: 'its credential is empty, cannot be read, or holds more than one key',
    remedy: 'write one key into the file or Secret, and let the gateway read it',
  },
  credential_refused: {
    reason: 'CredentialRefused',
    problem: 'it refuses the credential (status 401 or 403)',
    remedy: 'replace the key in the file or Secret',
  },
  name_not_found: {
    reason: 'HostNotFound',
    problem: 'the name of its host cannot be resolved',
    remedy: 'correct the endpoint in providers.yaml, or the DNS',
  },
  refused: {
    reason: 'ConnectionRefused',
    problem: 'no program accepts connections at its endpoint',
    remedy: 'start the provider, or correct the endpoint in providers.yaml',
  },
  timeout: {
    reason: 'ConnectionTimeout',
    problem: 'its endpoint does not answer in time',
    remedy: 'check the network, the firewall and network policies',
  },
  certificate_untrusted: {
    reason: 'CertificateUntrusted',
    problem: 'the authority of its certificate is unknown here',
    remedy: 'add the authority with NODE_EXTRA_CA_CERTS',
  },
  certificate_expired: {
    reason: 'CertificateExpired',
    problem: 'its certificate has expired or is not valid yet',
    remedy: 'renew the certificate, or correct the clock',
  },
  certificate_wrong_host: {
    reason: 'CertificateWrongHost',
    problem: 'its certificate is for another host name',
    remedy: 'use the name of the certificate in the endpoint',
  },
  tls: {
    reason: 'TlsFailed',
    problem: 'the TLS handshake with it fails',
    remedy: 'correct the scheme or port of the endpoint in providers.yaml',
  },
  network: {
    reason: 'ConnectionFailed',
    problem: 'the connection to it fails',
    remedy: 'check the network and the log of the provider',
  },
  not_found: {
    reason: 'EndpointNotFound',
    problem: 'it does not know the path of the endpoint (status 404)',
    remedy: 'correct the endpoint in providers.yaml; it ends with /v1 in most cases',
  },
  model_not_found: {
    reason: 'ModelNotFound',
    problem: 'it does not know the model (status 404, model_not_found)',
    remedy: 'correct spec.model.upstreamModel of the binding, or add the model to the provider',
  },
  rate_limited: {
    reason: 'RateLimited',
    problem: 'it limits the rate of requests (status 429)',
    remedy: 'wait, or raise the limit at the provider',
  },
  invalid_answer: {
    reason: 'InvalidAnswer',
    problem: 'its answer is not in the form of the OpenAI API',
    remedy: 'correct the endpoint in providers.yaml',
  },
  unexpected_status: {
    reason: 'UnexpectedStatus',
    problem: 'it answers with an unexpected status',
    remedy: 'see the log of the provider',
  },
};

/** Causes that have another meaning for a detector or classifier than for a model. */
const ofChecks: Partial<Readonly<Record<ProviderCause, Omit<Description, 'reason'>>>> = {
  credential_unreadable: {
    problem: 'its credential is empty, cannot be read, or holds more than one key',
    remedy: 'write one key into the file or Secret, and let the runtime read it',
  },
  not_found: {
    problem: 'it does not know the path of the endpoint (status 404)',
    remedy: 'correct the endpoint in providers.yaml',
  },
  model_not_found: {
    problem: 'it does not know the model (status 404, model_not_found)',
    remedy: 'correct the model of the classifier in providers.yaml',
  },
  timeout: {
    problem: 'it does not answer in time',
    remedy: 'check its load and the network, or raise timeoutMs of the rule',
  },
  invalid_answer: {
    problem: 'its answer does not follow the contract',
    remedy: 'correct the endpoint in providers.yaml, or the provider',
  },
};

/** The problem of a detector or classifier. */
export function checkProviderProblem(cause: ProviderCause): Description {
  return { ...providerProblems[cause], ...ofChecks[cause] };
}

/** Problem and remedy in one sentence, with the name of the provider and, for a detector or classifier, of its rule. */
export function describeProviderProblem(provider: string, cause: ProviderCause, rule?: string): string {
  const { problem, remedy } = rule === undefined ? providerProblems[cause] : checkProviderProblem(cause);
  const place = rule === undefined ? '' : ` of the rule ${rule}`;
  return `The provider ${provider}${place} cannot be used: ${problem}. To correct it, ${remedy}.`;
}
