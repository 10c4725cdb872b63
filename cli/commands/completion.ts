import { Argument, type Command } from 'commander';
import { type ShellName, shellScripts, shells } from '../completion/shell-scripts.ts';
import { writeText } from '../output/write.ts';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell: eval "$(portcullis completion bash)"')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: ShellName) => writeText(shellScripts[shell]));
}
