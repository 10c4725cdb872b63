import type { Command } from 'commander';
import { buildPrograms } from '../build/build-programs.ts';
import { goModules } from '../build/go-modules.ts';
import { progressOn } from '../progress.ts';

export function addBuild(program: Command): void {
  program
    .command('build')
    .description('build every program that a cluster may need, so that later starts only start')
    .action(async () => {
      const progress = progressOn(process.stderr);
      const programs = await buildPrograms(
        goModules.flatMap((module) => Object.keys(module.programs)),
        progress,
      );
      progress.say(`${Object.keys(programs).length} programs are ready.`);
    });
}
