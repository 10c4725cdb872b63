import { type Command, InvalidArgumentError } from 'commander';
import { writeText } from '../../../cli/output/write.ts';
import { openSearch } from '../archives/archives.ts';
import { fetchProgram } from '../archives/fetch-program.ts';
import { buildPrograms } from '../build/build-programs.ts';
import { goModules } from '../build/go-modules.ts';
import { progressOn } from '../machine/progress.ts';

const built = goModules.flatMap((module) => Object.keys(module.programs));
const known = [...built, openSearch.name];

export function addBuild(program: Command): void {
  program
    .command('build')
    .description('build every program that a cluster may need, so that later starts only start')
    .action(async () => {
      const progress = progressOn(process.stderr);
      const programs = await buildPrograms(built, progress);
      progress.say(`${Object.keys(programs).length} programs are ready.`);
    });
  program
    .command('program')
    .argument('<name>', `one of ${known.join(', ')}`, knownProgram)
    .description('print the path of a program, and build or fetch the program if needed')
    .action(async (name: string) => writeText(await pathOf(name)));
}

async function pathOf(name: string): Promise<string> {
  const progress = progressOn(process.stderr);
  if (name === openSearch.name) return fetchProgram(openSearch, progress);
  const programs = await buildPrograms([name], progress);
  return programs[name] ?? '';
}

function knownProgram(given: string): string {
  if (known.includes(given)) return given;
  throw new InvalidArgumentError(`Choose one of ${known.join(', ')}.`);
}
