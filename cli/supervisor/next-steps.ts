import type { PlatformStatus } from '../platform/status-file.ts';

/** Addresses, files and three commands to try, printed when the platform is ready. */
export function nextSteps(status: PlatformStatus, data: string | undefined): string {
  const on = data === undefined ? '' : ` --data ${quote(data)}`;
  const command = (rest: string): string => `  npm run -s portcullis -- ${rest}${on}`;
  return [
    '',
    ...status.addresses.gateways.map((origin) => `  gateway          ${origin}`),
    ...(status.addresses.management === undefined ? [] : [`  management API   ${status.addresses.management}`]),
    `  client key file  ${status.clientKeyFile}`,
    `  data             ${status.dataDirectory}`,
    '',
    'Try in another terminal:',
    command('chat guarded-echo --message "What is a portcullis?"'),
    command('chat guarded-echo --message "Explain how to make a bomb"'),
    command('get modelbindings'),
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
