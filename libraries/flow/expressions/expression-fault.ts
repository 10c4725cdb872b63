import type { FlowErrorCode } from '#contracts/flow-errors';

/** Why an expression has no value. The message names the expression, which is text of the author, and no value. */
export class ExpressionFault extends Error {
  readonly code: Extract<FlowErrorCode, 'path_missing' | 'type_mismatch' | 'output_invalid'>;

  constructor(code: ExpressionFault['code'], message: string) {
    super(message);
    this.name = 'ExpressionFault';
    this.code = code;
  }
}
