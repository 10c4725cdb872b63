import type { LogLevel } from '#kit/log/logger';

export type SignInConfig = {
  readonly host: string;
  readonly port: number;
  readonly issuer: string;
  readonly audience: string;
  readonly keyFile: string;
  readonly codeFile: string;
  readonly persons: readonly string[];
  readonly redirectUri: string;
  readonly sessionSeconds: number;
  readonly logLevel: LogLevel;
};
