import type { ManagementErrorBody } from '#contracts/management';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';

export type ErrorDetail = ManagementErrorBody['error']['details'][number];

/** What an operation answers. */
export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: 200 | 202;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | Refusal;

export type Refusal = {
  readonly kind: 'refusal';
  readonly code: ManagementErrorCode;
  readonly details?: readonly ErrorDetail[];
};

export function ok(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { kind: 'answer', status: 200, body, headers };
}

export function refuse(code: ManagementErrorCode, details?: readonly ErrorDetail[]): Refusal {
  return details === undefined ? { kind: 'refusal', code } : { kind: 'refusal', code, details };
}

/** The body of an error: its sentence is that of the table. */
export function errorBody(code: ManagementErrorCode, traceId: string, details: readonly ErrorDetail[] = []) {
  const body: ManagementErrorBody = {
    error: { code, message: managementErrors[code].meaning, traceId, details: [...details] },
  };
  return body;
}
