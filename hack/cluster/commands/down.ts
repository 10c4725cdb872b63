import type { Command } from 'commander';
import { takeDown } from '../life/take-down.ts';
import { holdLock } from '../machine/lock.ts';
import { progressOn } from '../machine/progress.ts';
import { clusterNames, readRecord } from '../record/record.ts';
import { withName } from './cluster-options.ts';

type DownOptions = { readonly name: string; readonly all?: boolean };

export function addDown(program: Command): void {
  withName(program.command('down'))
    .description('stop a cluster and remove everything that it created; built programs are kept')
    .option('--all', 'stop every cluster of this user, including those of running tests')
    .action(down);
}

async function down(options: DownOptions): Promise<void> {
  const progress = progressOn(process.stderr);
  for (const name of options.all === true ? clusterNames() : [options.name]) {
    using _lock = await holdLock(`cluster-${name}`);
    const known = readRecord(name) !== undefined;
    await takeDown(name, progress);
    progress.say(known ? `The cluster ${name} is gone.` : `There is no cluster ${name}.`);
  }
}
