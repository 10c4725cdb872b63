import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A Python script that answers each line of JSON with one line of JSON, in order. */
type PythonLines<Question, Answer> = AsyncDisposable & {
  /** Requests may overlap. Rejects when the script ends before it has answered. */
  ask(questions: readonly Question[]): Promise<readonly Answer[]>;
};

type Options = {
  /** Path of the Python interpreter. */
  readonly python: string;
  /** Path of the script. */
  readonly script: string;
  /** Additional variables of its environment besides PATH. */
  readonly environment?: Readonly<Record<string, string>>;
};

export function openPythonLines<Question, Answer>(options: Options): PythonLines<Question, Answer> {
  const child = spawn(options.python, [options.script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...options.environment },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  let last: Promise<unknown> = Promise.resolve();

  async function readAnswers(count: number): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < count) {
      const line = await lines.next();
      if (line.done === true) throw new Error('the Python process ended before it had answered');
      answers.push(JSON.parse(line.value) as Answer);
    }
    return answers;
  }

  return {
    ask(questions) {
      child.stdin.write(questions.map((question) => `${JSON.stringify(question)}\n`).join(''));
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
