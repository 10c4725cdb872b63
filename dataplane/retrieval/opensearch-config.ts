import { ConfigError, setting } from '#kit/env/read-environment';

/** Selects OpenSearch for the search index of documents. */
export const openSearchSettings = {
  PORTCULLIS_OPENSEARCH_URL: setting.optional(
    setting.url({
      help: 'address of OpenSearch 3 with its plugin for vectors; without it each process has the search index in its memory',
    }),
  ),
  PORTCULLIS_OPENSEARCH_USER: setting.optional(
    setting.string({ help: 'user of OpenSearch; required with PORTCULLIS_OPENSEARCH_PASSWORD_FILE' }),
  ),
  PORTCULLIS_OPENSEARCH_PASSWORD_FILE: setting.optional(
    setting.file({ help: 'password of that user without spaces, read again on change' }),
  ),
  PORTCULLIS_OPENSEARCH_CA_FILE: setting.optional(
    setting.file({ help: 'certificates in PEM that sign those of OpenSearch' }),
  ),
  PORTCULLIS_OPENSEARCH_PREFIX: setting.string({
    help: 'beginning of the names of its indices; a change builds the indices again under the new names',
    default: 'portcullis',
  }),
};

export type OpenSearchChoice = {
  readonly url: URL;
  readonly credential: { readonly user: string; readonly passwordFile: string } | undefined;
  readonly caFile: string | undefined;
  /** Prefix of index names: 1 to 40 lower-case letters, digits and dashes, a letter or digit first. */
  readonly prefix: string;
};

/** The settings as they were read. */
type OpenSearchValues = {
  readonly PORTCULLIS_OPENSEARCH_URL: URL | undefined;
  readonly PORTCULLIS_OPENSEARCH_USER: string | undefined;
  readonly PORTCULLIS_OPENSEARCH_PASSWORD_FILE: string | undefined;
  readonly PORTCULLIS_OPENSEARCH_CA_FILE: string | undefined;
  readonly PORTCULLIS_OPENSEARCH_PREFIX: string;
};

/** Hosts to which a password may go without TLS: the traffic does not leave the machine. */
const ownHosts: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/** @throws ConfigError with every problem of settings that belong together */
export function openSearchOf(read: OpenSearchValues): OpenSearchChoice | undefined {
  const { PORTCULLIS_OPENSEARCH_URL: url, PORTCULLIS_OPENSEARCH_PREFIX: prefix } = read;
  const [user, passwordFile] = [read.PORTCULLIS_OPENSEARCH_USER, read.PORTCULLIS_OPENSEARCH_PASSWORD_FILE];
  const caFile = read.PORTCULLIS_OPENSEARCH_CA_FILE;
  const problems: string[] = [];
  if (url === undefined && (user ?? passwordFile ?? caFile) !== undefined) {
    problems.push('PORTCULLIS_OPENSEARCH_URL is missing: the other settings of OpenSearch need it');
  }
  if ((user === undefined) !== (passwordFile === undefined)) {
    const missing = user === undefined ? 'PORTCULLIS_OPENSEARCH_USER' : 'PORTCULLIS_OPENSEARCH_PASSWORD_FILE';
    problems.push(`${missing} is missing: OpenSearch takes a user with a password, or neither`);
  }
  if (user !== undefined && !/^[^\s:]{1,100}$/.test(user)) {
    problems.push('PORTCULLIS_OPENSEARCH_USER must have 1 to 100 characters without colons and spaces');
  }
  if (url?.protocol === 'http:' && user !== undefined && !ownHosts.includes(url.hostname)) {
    problems.push(
      'PORTCULLIS_OPENSEARCH_URL must begin with https: a password is sent to another machine over TLS only',
    );
  }
  if (url?.protocol === 'http:' && caFile !== undefined) {
    problems.push('PORTCULLIS_OPENSEARCH_URL must begin with https where PORTCULLIS_OPENSEARCH_CA_FILE is set');
  }
  if (url !== undefined && (url.search !== '' || url.hash !== '')) {
    problems.push('PORTCULLIS_OPENSEARCH_URL must have no query and no fragment');
  }
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(prefix)) {
    problems.push(
      'PORTCULLIS_OPENSEARCH_PREFIX must have 1 to 40 lower-case letters, digits and dashes, a letter or digit first',
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  if (url === undefined) return undefined;
  const credential = user === undefined || passwordFile === undefined ? undefined : { user, passwordFile };
  return { url, credential, caFile, prefix };
}
