import { approvalRulesSchema } from '#contracts/approvals';
import { freezesSchema } from '#contracts/freezes';
import { openManagement } from './management-options.ts';
import { sendRequest } from './send-request.ts';
import type { CommandRules } from './warning-writer.ts';

/** Maximum wait for a warning, seconds: a warning does not justify a longer wait of the command that it follows. */
const mostSeconds = 2;

/**
 * The windows and rules of the platform on a data directory, read as its first administrator. Undefined where the API
 * is off or does not answer: the command is executed anyway, and only its warning is lost.
 */
export async function readCommandRules(data: string | undefined): Promise<CommandRules | undefined> {
  try {
    const { connection } = openManagement({ ...(data === undefined ? {} : { data }), requestTimeout: mostSeconds });
    const read = { method: 'GET' } as const;
    const [freezes, rules] = await Promise.all([
      sendRequest(connection, { ...read, path: '/api/v1/freezes' }, freezesSchema),
      sendRequest(connection, { ...read, path: '/api/v1/approval-rules' }, approvalRulesSchema),
    ]);
    return { freezes: freezes.value.items, rules: rules.value.items };
  } catch {
    return undefined;
  }
}
