import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unusedPort } from '#kit/testing/loopback';
import { type FollowedChild, startFollowed } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { openSearch } from '../../hack/cluster/archives/archives.ts';
import { folderOfProgram } from '../../hack/cluster/archives/fetch-program.ts';
import { findJava } from '../../hack/cluster/archives/find-java.ts';

const home = join(folderOfProgram(openSearch), `opensearch-${openSearch.version}`);
/** The oldest Java version that OpenSearch 3 supports. */
const leastJava = 21;

/** The reason why OpenSearch cannot be started; undefined if it can. Tests do not download it. */
export const missingOpenSearch: string | undefined = missing();

function missing(): string | undefined {
  if (process.platform !== 'linux') return 'OpenSearch is started on Linux only';
  if (!existsSync(home)) return "OpenSearch is not there: 'npm run cluster program opensearch' fetches it";
  if (findJava(leastJava) === undefined) return `OpenSearch needs Java ${leastJava} or newer: set JAVA_HOME`;
  return undefined;
}

/** The title of a suite that needs OpenSearch, with the reason if it is skipped. */
export function onOpenSearch(title: string): string {
  return missingOpenSearch === undefined ? title : `${title} (${missingOpenSearch})`;
}

export type OpenSearchServer = AsyncDisposable & {
  readonly url: URL;
  /** Stops every thread of the server, or continues them. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the server; its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data, and waits until it answers. */
  start(): Promise<void>;
  /** Returns the output of the server up to now. */
  log(): string;
};

/** Starts a real OpenSearch with one node on loopback, with a small heap and a temporary data folder. */
export async function startOpenSearch(): Promise<OpenSearchServer> {
  const java = findJava(leastJava);
  if (java === undefined || missingOpenSearch !== undefined) throw new Error(missingOpenSearch);
  const folder = temporaryFolder();
  const port = await unusedPort();
  writeConfiguration(folder.path, port);
  const url = new URL(`http://127.0.0.1:${port}`);
  let child: FollowedChild | undefined;
  const kill = async (): Promise<void> => {
    await child?.end('SIGKILL');
    child = undefined;
  };
  const start = async (): Promise<void> => {
    const started = startFollowed([...asNobody(), 'bash', join(home, 'bin/opensearch')], {
      cwd: '/',
      env: {
        PATH: process.env['PATH'],
        OPENSEARCH_JAVA_HOME: java,
        OPENSEARCH_PATH_CONF: join(folder.path, 'config'),
        OPENSEARCH_TMPDIR: join(folder.path, 'tmp'),
      },
    });
    child = started;
    await until('OpenSearch answers', async () => {
      if (started.hasEnded()) return 'ended' as const;
      return (await fetch(new URL('/_cluster/health?wait_for_status=yellow&timeout=1s', url))).ok;
    });
    if (started.hasEnded()) throw new Error(`OpenSearch ended: ${started.output().slice(-2_000)}`);
  };
  const end = async (): Promise<void> => {
    await kill();
    folder[Symbol.dispose]();
  };
  try {
    await start();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    url,
    kill,
    start,
    signal: (name) => child?.signal(name),
    log: () => child?.output() ?? '',
    [Symbol.asyncDispose]: end,
  };
}

function writeConfiguration(folder: string, port: number): void {
  const config = join(folder, 'config');
  for (const name of ['data', 'logs', 'tmp']) mkdirSync(join(folder, name));
  cpSync(join(home, 'config'), config, { recursive: true });
  const settings = {
    'discovery.type': 'single-node',
    'network.host': '127.0.0.1',
    'http.port': port,
    'transport.port': 0,
    'path.data': join(folder, 'data'),
    'path.logs': join(folder, 'logs'),
    // Disk watermarks are off, because the disk of a test machine may be almost full.
    'cluster.routing.allocation.disk.threshold_enabled': false,
  };
  writeFileSync(join(config, 'opensearch.yml'), JSON.stringify(settings));
  // Keeps the options that the server needs; a small heap and a single compiler suit a short-lived process.
  const options = readFileSync(join(config, 'jvm.options'), 'utf8')
    .split('\n')
    .filter((line) => /^(2\d-:|-Djava|-Dorg)/.test(line));
  const own = ['-Xms512m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
  const crash = `-XX:ErrorFile=${join(folder, 'logs/hs_err_pid%p.log')}`;
  writeFileSync(join(config, 'jvm.options'), [...options, ...own, crash, ''].join('\n'));
}

/**
 * OpenSearch refuses to run as root: in that case it runs as another user in a user namespace. It ends with this
 * process.
 */
function asNobody(): readonly string[] {
  const tied = ['setpriv', '--pdeathsig', 'KILL'];
  if (process.getuid?.() !== 0) return tied;
  return ['unshare', '--user', '--map-user=65534', '--map-group=65534', ...tied];
}
