/** The configuration cannot be used. Each problem is a sentence that names the setting and holds no secret. */
export class ConfigError extends Error {
  readonly code = 'invalid_config';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
