import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../hack/check/run-tool.ts';
import { readBlocks } from '../readme/read-blocks.ts';

/** The pages whose commands are tested. */
export const commandPages = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/detectors/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

/** A command as a page prints it. */
export type Printed = { readonly page: string; readonly command: string };

/** The commands of blocks with the label `sh`: a backslash continues a line, a comment follows two blanks. */
function commandsOf(page: string): readonly Printed[] {
  const blocks = readBlocks(readFileSync(join(root, page), 'utf8')).filter(({ label }) => label === 'sh');
  return blocks
    .flatMap(({ text }) =>
      text.replace(/ (\\|\|)\n +/g, (_all, end: string) => (end === '|' ? ' | ' : ' ')).split('\n'),
    )
    .map((line) => line.replace(/ {2,}#.*$/, '').trim())
    .filter((command) => command !== '')
    .map((command) => ({ page, command }));
}

/** The reason why no test runs a command as printed. */
export const notRun: readonly { readonly reason: string; readonly pattern: RegExp }[] = [
  { reason: 'builds images or runs containers with an engine, or pushes to a registry', pattern: /\bdocker\b/ },
  {
    reason: 'hack/cluster has its own tests for a whole cluster',
    pattern: /^npm run cluster|^eval "\$\(npm run -s cluster env\)"$/,
  },
  { reason: 'e2e/chart runs the tests of the chart on a whole cluster, with its own images', pattern: /^helm test / },
  { reason: 'is the check itself', pattern: /^npm (test|run e2e)\b|PORTCULLIS_E2E_CONTEXT/ },
  { reason: 'pretended nodes have no shell', pattern: /\bexec\b/ },
  {
    reason: 'forwards a port of a pod, or needs one',
    pattern: /port-forward|--server http:|127\.0\.0\.1:8080|^psql |pg_(dump|restore)|^kill %1$/,
  },
  { reason: 'waits for an operator: e2e/kubectl applies and waits with one', pattern: /portcullis apply .* --wait$/ },
  { reason: 'e2e/kubectl/backup-restore.test.ts restores into another cluster', pattern: /portcullis restore/ },
  { reason: 'e2e/documents/call-an-agent.test.ts runs it', pattern: /"\$GATEWAY\// },
  { reason: 'downloads packages and a model of several hundred megabytes', pattern: /^python3 -m venv|^venv\/bin/ },
];
/**
 * Simulated nodes have no logs and no metrics: instead of such a command, the object or the pods that it names are
 * read.
 */
export const readsPods = (command: string): string =>
  command
    .replace(/^(kubectl -n NS) (?:logs|top pods?) (-l (?:'[^']*'|\S+)).*$/, '$1 get pods $2')
    .replace(/^(kubectl -n NS) logs (\S+\/\S+) .*$/, '$1 get $2')
    .replace(/^(kubectl -n NS) logs (\S+) .*$/, '$1 get pod $2');

/** The test of the README runs this command. */
const isStart = ({ command }: Printed): boolean => /^(?:[A-Z_]+=\S+ )*npm start\b/.test(command);
export const reasonsOf = ({ command }: Printed) => notRun.filter(({ pattern }) => pattern.test(readsPods(command)));
/** All commands in blocks with the label `sh`. */
export const printedCommands = commandPages.flatMap(commandsOf);
/** The beginning of the set-up. */
export const namespaceCommand = 'kubectl create namespace portcullis';
/** The commands that tests run. */
export const runnableCommands = printedCommands.filter(
  (one) => !isStart(one) && one.command !== namespaceCommand && reasonsOf(one).length === 0,
);
export const isHelm = ({ command }: Printed): boolean => command.startsWith('helm ');
