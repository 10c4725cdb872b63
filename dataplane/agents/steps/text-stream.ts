import { JudgedStream } from '#checks/guard/judged-stream';
import type { AgentBundle } from '#contracts/agent-bundle';
import { AgentError } from '../calls/agent-error.ts';
import { judgeWindow, type TextGuard } from './guard-texts.ts';

type TextStreamOptions = {
  readonly guard: TextGuard;
  readonly guardrail: AgentBundle['guardrails']['output'];
  readonly signal: AbortSignal;
  /** Receives text that may be sent, in order. The text is never empty. */
  readonly onReleased: (text: string) => void;
};

/**
 * The text of a result while the model still writes it, judged by the output policy of the version
 * (docs/design/agents.md, "Streamed text"). A refusal is an AgentError.
 */
export class TextStream extends JudgedStream {
  constructor({ guard, guardrail, signal, onReleased }: TextStreamOptions) {
    super({
      judge: guardrail === 'None' ? undefined : (text) => judgeWindow(guard, guardrail, text, signal),
      refuse: (code) => new AgentError(code),
      signal,
      onReleased,
    });
  }
}
