/** Exit codes of the command line. They are stable: scripts may rely on them. */
export const exitCodes = {
  ok: { code: 0, meaning: 'The command did what it was asked for.' },
  failed: { code: 1, meaning: 'Something failed that no other code names.' },
  usage: { code: 2, meaning: 'The command line, a file or a document in it is wrong; nothing was done.' },
  not_found: { code: 3, meaning: 'The resource or file does not exist.' },
  not_running: { code: 4, meaning: 'No platform runs on the data directory, or the API server does not answer.' },
  tests_failed: { code: 5, meaning: 'A test of a policy failed.' },
  guardrail_blocked: { code: 6, meaning: 'The policy denied the text; an answer that was begun is incomplete.' },
  guardrail_error: { code: 7, meaning: 'The check itself failed; an answer that was begun is incomplete.' },
  upstream_error: { code: 8, meaning: 'The model failed or its answer broke off; it is incomplete.' },
  refused: { code: 9, meaning: 'The bundle or the application was refused.' },
  conflict: { code: 10, meaning: 'The resource changed meanwhile: read it again and repeat the command.' },
  busy: {
    code: 11,
    meaning: 'Another platform runs on the data directory, a port is in use, or what has to be at rest runs.',
  },
  timeout: { code: 12, meaning: 'What was waited for did not come in time.' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitName = keyof typeof exitCodes;
