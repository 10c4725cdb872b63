import { type Command, InvalidArgumentError } from 'commander';
import { writeText } from '../../../cli/output/write.ts';
import { buildPrograms } from '../build/build-programs.ts';
import { goModules } from '../build/go-modules.ts';
import { progressOn } from '../progress.ts';

const known = goModules.flatMap((module) => Object.keys(module.programs));

export function addBuild(program: Command): void {
  program
    .command('build')
    .description('build every program that a cluster may need, so that later starts only start')
    .action(async () => {
      const progress = progressOn(process.stderr);
      const programs = await buildPrograms(known, progress);
      progress.say(`${Object.keys(programs).length} programs are ready.`);
    });
  program
    .command('program')
    .argument('<name>', `one of ${known.join(', ')}`, knownProgram)
    .description('print the path of a program, and build the program if needed')
    .action(async (name: string) => {
      const programs = await buildPrograms([name], progressOn(process.stderr));
      writeText(programs[name] ?? '');
    });
}

function knownProgram(given: string): string {
  if (known.includes(given)) return given;
  throw new InvalidArgumentError(`Choose one of ${known.join(', ')}.`);
}
