import { X509Certificate } from 'node:crypto';
import { connectionFault } from '#kit/http/connection-fault';
import type { ClientCertificate, ClusterAccess } from '#kube/client/cluster-access';
import { isKubeError } from '#kube/client/kube-error';
import { CliError } from '../../errors/cli-error.ts';
import { tokenFault } from '../../errors/token-fault.ts';

/** Why an API server refuses the credentials of a kubeconfig, or does not answer; undefined for other errors. */
export async function explainAccess(error: unknown, access: ClusterAccess, now: Date): Promise<CliError | undefined> {
  if (isKubeError(error, 'unauthenticated')) {
    const { clientCertificate, credentials } = access;
    const certificate = typeof clientCertificate === 'function' ? clientCertificate() : clientCertificate;
    const token = /^Bearer (.*)$/.exec((await credentials.authorization()) ?? '')?.[1];
    const fault =
      (token === undefined ? undefined : tokenFault(token, now)) ??
      (certificate === undefined ? undefined : certificateFault(certificate, now)) ??
      'The API server does not know the credentials of the kubeconfig: log in again, or choose another context.';
    return new CliError('unauthenticated', fault, { cause: error });
  }
  if (!isKubeError(error, 'network')) return undefined;
  return new CliError('not_running', unreachableSentence(error.cause, new URL(access.url)), { cause: error });
}

function certificateFault({ cert }: ClientCertificate, now: Date): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  if (validToDate.getTime() <= now.getTime()) {
    return `The client certificate of the kubeconfig expired at ${validToDate.toISOString()}: renew it, or choose another context.`;
  }
  if (validFromDate.getTime() > now.getTime()) {
    return `The client certificate of the kubeconfig is not valid before ${validFromDate.toISOString()}, and the clock of this machine says ${now.toISOString()}: set the clock.`;
  }
  return undefined;
}

function unreachableSentence(cause: unknown, { hostname, host }: URL): string {
  const correct = 'correct the server in the kubeconfig';
  switch (connectionFault(cause)) {
    case 'name_not_found':
      return `The API server does not answer: the name ${hostname} cannot be resolved. Check the DNS, or ${correct}.`;
    case 'refused':
      return `The API server does not answer: no program accepts connections at ${host}. Start the cluster, or ${correct}.`;
    case 'timeout':
      return `The API server does not answer at ${host} in time: check the network, or raise --request-timeout.`;
    case 'certificate_untrusted':
      return `The certificate of the API server at ${host} is not signed by the authority of the kubeconfig: correct certificate-authority-data, or the server.`;
    case 'certificate_expired':
      return `The certificate of the API server at ${host} has expired or is not valid yet: renew it, or set the clock of this machine.`;
    case 'certificate_wrong_host':
      return `The certificate of the API server at ${host} is for another name: ${correct}, or set tls-server-name.`;
    case 'tls':
      return `The server at ${host} does not speak https: ${correct}.`;
    case 'network':
      return `The API server at ${host} does not answer: the connection broke. Check the network and the cluster, and repeat the command.`;
  }
}
