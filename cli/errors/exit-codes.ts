/** Exit codes of the command line. They never change, so that scripts can rely on them. */
export const exitCodes = {
  ok: { code: 0, meaning: 'The command succeeded.' },
  failed: { code: 1, meaning: 'A failure that no other code describes.' },
  usage: { code: 2, meaning: 'The command line, a file or a document in it is invalid; nothing was changed.' },
  not_found: { code: 3, meaning: 'The resource or file does not exist.' },
  not_running: {
    code: 4,
    meaning: 'No platform runs on the data directory or in the namespace, or the API server does not respond.',
  },
  tests_failed: { code: 5, meaning: 'A test of a policy or of a flow failed.' },
  guardrail_blocked: {
    code: 6,
    meaning: 'The policy denied the text; an answer that was already printed in part is incomplete.',
  },
  guardrail_error: {
    code: 7,
    meaning:
      'The check failed, or the text is too long to be checked; an answer that was already printed in part is incomplete.',
  },
  upstream_error: { code: 8, meaning: 'The model failed or the connection broke; the answer is incomplete.' },
  refused: {
    code: 9,
    meaning:
      'The policy, the bundle, the application or another resource was refused, or the right is missing (403). Resources that the command wrote before the refusal are kept.',
  },
  conflict: { code: 10, meaning: 'The resource was changed concurrently: read it again and repeat the command.' },
  busy: {
    code: 11,
    meaning:
      'Another platform uses the data directory, a port is in use, or a component that must be stopped is running.',
  },
  timeout: { code: 12, meaning: 'A wait timed out, or a model or an agent did not answer in time.' },
  not_confirmed: {
    code: 13,
    meaning:
      'A change that removes protection, replaces a policy of another name, makes a collection public or cannot be undone was not confirmed; nothing was changed.',
  },
  unauthenticated: { code: 14, meaning: 'The server refused the credentials (401).' },
  different: { code: 15, meaning: 'The platform differs from the files that diff -f compares; nothing was changed.' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitName = keyof typeof exitCodes;
