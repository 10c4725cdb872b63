import type { Command } from 'commander';
import { tableOf, writeJson, writeText } from '../output/write.ts';
import { readApplyProblems } from '../platform/apply-problems.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { withJson } from './platform-options.ts';

type StatusOptions = { readonly data?: string; readonly json?: boolean };

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('say whether the platform runs, whether it is ready, and where it serves')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(command).action(status);
}

function status(options: StatusOptions): void {
  const { status: found, data } = runningPlatform(options.data);
  const notApplied = readApplyProblems(data);
  if (options.json === true) {
    writeJson({ ...found, notApplied });
    return;
  }
  const processes = found.processes.map(({ name, pid, ready, restarts }) => [
    `  ${name}`,
    `process ${pid}`,
    ready ? 'serves' : 'does not serve',
    restarts === 0 ? '' : `started again ${restarts} times`,
  ]);
  const facts = tableOf([
    ['Ready:', found.ready ? 'yes' : 'no'],
    ['Gateway:', found.addresses.gateways.join(' ')],
    ['Client key file:', found.clientKeyFile],
    ['Data directory:', found.dataDirectory],
  ]);
  const problems =
    notApplied.length === 0 ? '' : `\nNot applied:\n${notApplied.map((problem) => `  ${problem}`).join('\n')}`;
  writeText(`${facts}\nProcesses:\n${tableOf(processes)}${problems}`);
}
