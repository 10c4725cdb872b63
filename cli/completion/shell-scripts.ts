/** The hidden command that completes a command line, as kubectl calls it. */
export const completeWord = '__complete';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof shells)[number];

/**
 * The output format of kubectl: one word on each line, then `:` and a number that indicates whether files are offered.
 */
export const directives = { none: ':4', any: ':0', folders: ':16' } as const;

const { any, folders } = directives;

/** Completion scripts; each calls the hidden command. */
export const shellScripts: Readonly<Record<ShellName, string>> = {
  bash: `_portcullis() {
  local current=\${COMP_WORDS[COMP_CWORD]} words
  words=$("\${COMP_WORDS[0]}" ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  COMPREPLY=($(compgen -W "$(printf '%s\\n' "$words" | grep -v '^:')" -- "$current"))
  case $words in
    *${any}) [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current")) ;;
    *${folders}) [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -d -- "$current")) ;;
  esac
}
complete -F _portcullis portcullis`,
  zsh: `_portcullis() {
  local -a lines
  lines=("\${(@f)$("\${words[1]}" ${completeWord} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- \${lines:#:*}
  case \${lines[-1]} in
    ${any}) _files ;;
    ${folders}) _files -/ ;;
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _portcullis portcullis`,
  fish: `function __portcullis_complete
  set -l lines (portcullis ${completeWord} (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  string match -v ':*' -- $lines
  switch "$lines[-1]"
    case '${any}'
      __fish_complete_path (commandline -ct)
    case '${folders}'
      __fish_complete_directories (commandline -ct)
  end
end
complete -c portcullis -f -a '(__portcullis_complete)'`,
};
