/** The configuration is invalid. Each problem is a sentence that names the setting and contains no secret. */
export class ConfigError extends Error {
  readonly code = 'invalid_config';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
