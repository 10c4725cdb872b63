import { Argument, type Command } from 'commander';
import { kinds } from '#crds/kinds';
import { writeText } from '../output/write.ts';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print completion for a shell: eval "$(portcullis completion bash)"')
    .addArgument(new Argument('<shell>', 'shell to complete for').choices(['bash', 'zsh', 'fish']))
    .action((shell: 'bash' | 'zsh' | 'fish') => writeText(completion(program, shell)));
}

type Entry = { readonly path: string; readonly words: readonly string[] };

function completion(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const entries = entriesOf(program, '');
  switch (shell) {
    case 'bash':
      return bashScript(entries);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(entries)}`;
    case 'fish':
      return fishScript(entries);
  }
}

/** What may follow each command: subcommands, options and, where a kind is asked for, kinds. */
function entriesOf(command: Command, path: string): readonly Entry[] {
  const names = command.commands.map((sub) => sub.name());
  const options = command.options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long]));
  const asksForKind = command.registeredArguments[0]?.name() === 'kind';
  const words = asksForKind ? Object.values(kinds).map(({ plural }) => plural) : [];
  const own = { path, words: [...names, ...words, ...options, '--help'] };
  return [own, ...command.commands.flatMap((sub) => entriesOf(sub, `${path} ${sub.name()}`.trim()))];
}

function bashScript(entries: readonly Entry[]): string {
  const cases = entries.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_portcullis() {
  local path='' word words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in -*) continue ;; esac
    case " ${entries.map(({ path }) => path).join(' | ')} " in
      *" \${path:+$path }$word "*) path=\${path:+$path }$word ;;
    esac
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _portcullis portcullis`;
}

function fishScript(entries: readonly Entry[]): string {
  return entries
    .map(({ path, words }) => {
      const seen = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`;
      return `complete -c portcullis -n '${seen}' -a '${words.join(' ')}'`;
    })
    .join('\n');
}
