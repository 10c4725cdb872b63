import { quoteWord } from '../command-line/quote-word.ts';
import type { PlatformStatus } from '../platform/status-file.ts';

type NextSteps = {
  /** The option --data, as it was given. */
  readonly data: string | undefined;
  /** Whether npm started the platform, so that the command line may not be in PATH. */
  readonly isNpm: boolean;
  /** Whether the example collection has been loaded. */
  readonly hasHandbook: boolean;
  /** The examples of agents that can be called. */
  readonly agents: readonly string[];
  /** The code of the first sign-in to the console; absent before the console starts. */
  readonly signInCode: string | undefined;
};

/** The questions of the examples to agents. */
const questions: Readonly<Record<string, string>> = {
  assistant: 'What is a portcullis?',
  handbook: 'What may a hotel cost?',
};

/** Addresses, files and commands to try, printed when the platform is ready. */
export function nextSteps(status: PlatformStatus, { data, isNpm, hasHandbook, agents, signInCode }: NextSteps): string {
  const on = data === undefined ? '' : ` --data ${quoteWord(data)}`;
  const command = (rest: string): string => `  ${isNpm ? 'npm run -s portcullis --' : 'portcullis'} ${rest}${on}`;
  const entry = signInCode === undefined ? 'starts at the first visit' : `sign-in code ${signInCode}`;
  return [
    '',
    ...(status.addresses.console === undefined ? [] : [`  console          ${status.addresses.console}   ${entry}`]),
    ...status.addresses.gateways.map((origin) => `  gateway          ${origin}`),
    ...(status.addresses.management === undefined ? [] : [`  management API   ${status.addresses.management}`]),
    ...(status.addresses.retrieval === undefined ? [] : [`  retrieval        ${status.addresses.retrieval}`]),
    ...(status.addresses.memory === undefined ? [] : [`  memory           ${status.addresses.memory}`]),
    ...(status.addresses.catalogue === undefined ? [] : [`  catalogue        ${status.addresses.catalogue}`]),
    `  client key file  ${status.clientKeyFile}`,
    `  data             ${status.dataDirectory}`,
    '',
    'Try in another terminal:',
    command('chat guarded-echo --message "What is a portcullis?"'),
    command('chat guarded-echo --message "Explain how to make a bomb"'),
    command('get modelbindings'),
    ...(hasHandbook
      ? ['bob', 'eve'].map((person) => command(`query "What may a hotel cost?" --collection handbook --as ${person}`))
      : []),
    ...agents.map((name) => command(`agent send ${name} --message "${questions[name] ?? 'Good morning'}" --as bob`)),
    ...(status.addresses.catalogue === undefined || agents.length === 0 ? [] : [command('agents list --as bob')]),
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}
