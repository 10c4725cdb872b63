import { connectionFault } from '#kit/http/connection-fault';

/** Why a request to an origin had no answer, as the end of a sentence without a full stop. */
export function unreachableReason(cause: unknown, origin: string): string {
  const { hostname, host, port, protocol } = new URL(origin);
  const number = port || (protocol === 'https:' ? '443' : '80');
  switch (connectionFault(cause)) {
    case 'name_not_found':
      return `the name ${hostname} cannot be resolved`;
    case 'refused':
      return `no program listens on port ${number} of ${hostname}`;
    case 'timeout':
      return `${host} sent no answer before the request timeout`;
    case 'certificate_untrusted':
      return `the certificate of ${host} is signed by an authority that this machine does not trust`;
    case 'certificate_expired':
      return `the certificate of ${host} has expired or is not valid yet`;
    case 'certificate_wrong_host':
      return `the certificate of ${host} is for another name`;
    case 'tls':
      return `port ${number} of ${hostname} does not speak https`;
    case 'network':
      return `the connection to ${host} broke or was redirected`;
  }
}

/**
 * The remedy for an address that does not answer.
 * @param log the name of the log file in the folder `logs` of a data directory, without its file extension
 */
export function unreachableRemedy(log: string): string {
  return (
    'Check the address: "portcullis status" shows the addresses of a platform on this machine, "kubectl get services" ' +
    `those of a cluster. If it is right, read the log: ${log}.log in the folder logs of the data directory, or ` +
    '"kubectl logs".'
  );
}
