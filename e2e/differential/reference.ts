import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One pattern and the texts to match it against. */
export type MatchRequest = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly texts: readonly string[];
};

/** The result of an engine: whether it accepts the pattern and, for each text, `[start, end, start, end, …]` in bytes. */
export type MatchResult = { readonly accepted: boolean; readonly spans: readonly (readonly number[])[] };

/** google-re2 in a separate Python process. Requests may overlap; each gets its answers in order. */
export type Reference = AsyncDisposable & {
  ask(questions: readonly MatchRequest[]): Promise<readonly MatchResult[]>;
};

const script = fileURLToPath(new URL('./judge-patterns.py', import.meta.url));

/** Starts the reference with a Python that has the packages of requirements.txt. */
export function openReference(python: string): Reference {
  const child = spawn(python, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  let last: Promise<unknown> = Promise.resolve();

  async function readAnswers(count: number): Promise<readonly MatchResult[]> {
    const verdicts: MatchResult[] = [];
    while (verdicts.length < count) {
      const line = await lines.next();
      if (line.done === true) throw new Error('the Python process ended before it had answered');
      verdicts.push(JSON.parse(line.value) as MatchResult);
    }
    return verdicts;
  }

  return {
    ask(questions) {
      child.stdin.write(questions.map(asLine).join(''));
      const answers = last.then(() => readAnswers(questions.length));
      last = answers.catch(() => undefined);
      return answers;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      child.kill();
      await ended;
    },
  };
}

function asLine({ pattern, caseSensitive, texts }: MatchRequest): string {
  return `${JSON.stringify({ pattern: base64(pattern), caseSensitive, texts: texts.map(base64) })}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
