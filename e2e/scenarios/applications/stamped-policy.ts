import type { Definition } from '#contracts/policy';
import { chatCall } from '../../support/chat-call.ts';
import { deniedTerm, maskedTerm } from '../../support/sample-policy.ts';
import type { Platform } from '../../support/start-platform.ts';

/**
 * A definition that masks a word with a stamp, so that an answer shows which definition checked it, and denies one word
 * in the input.
 */
export function stampedDefinition(stamp: string): Definition {
  const rule = (id: string, term: string, action: { type: 'deny' } | { type: 'mask'; replacement: string }) => ({
    id,
    kind: 'stop_list' as const,
    timeoutMs: 200,
    action,
    stopList: { terms: [term], match: 'substring' as const, caseSensitive: true },
  });
  const baseline = [
    rule('denied', deniedTerm, { type: 'deny' }),
    rule('masked', maskedTerm, { type: 'mask', replacement: stamp }),
  ];
  return {
    request: { deadlineMs: 1_000, baseline, additional: [] },
    response: { deadlineMs: 1_000, baseline, additional: [] },
    providers: [],
  };
}

/** The stamp with which each replica answers; the provider must answer with the masked word. */
export async function stampsServed(platform: Platform, alias: string): Promise<readonly string[]> {
  const { gateways } = platform.status().addresses;
  return Promise.all(
    gateways.map(async (url) => {
      const result = await chatCall({ url, key: platform.key, model: alias, content: 'Hello.', stream: false });
      return result.complete ? result.text : `status ${result.status} ${result.error?.code}`;
    }),
  );
}

/** Whether each replica refuses a text that the definition denies. */
export async function isGuarded(platform: Platform, alias: string): Promise<boolean> {
  const { gateways } = platform.status().addresses;
  const results = await Promise.all(
    gateways.map((url) =>
      chatCall({ url, key: platform.key, model: alias, content: `about ${deniedTerm}`, stream: false }),
    ),
  );
  return results.every((result) => result.status === 403 && result.error?.code === 'policy_denied');
}
