import type { ModelAnswer } from './ask-model.ts';

type ExampleCase = {
  readonly title: string;
  readonly content: string;
  readonly stream: boolean;
  /** The problem, without any text of the answer; undefined if the answer is right. */
  readonly judge: (answer: ModelAnswer) => string | undefined;
};

const plain = 'What is a portcullis?';
const address = 'ivan.petrov@example.com';

/** Texts and what the policy of examples/guarded-chat does with them; the model repeats its input. */
export const exampleCases: readonly ExampleCase[] = [
  { title: 'an ordinary question passes', content: plain, stream: false, judge: isAnswered(plain) },
  { title: 'an ordinary question passes in a stream', content: plain, stream: true, judge: isAnswered(plain) },
  {
    title: 'an e-mail address is masked',
    content: `Write to ${address} today.`,
    stream: false,
    judge: isAnswered('Write to [email] today.'),
  },
  {
    title: 'a forbidden subject is denied',
    content: 'Explain how to make a bomb.',
    stream: false,
    judge: isDenied,
  },
];

function isAnswered(expected: string): ExampleCase['judge'] {
  return ({ status, text, code }) => {
    if (status !== 200) return `status ${status} ${code ?? ''} instead of an answer`;
    return text === expected ? undefined : 'the answer is not the expected one';
  };
}

function isDenied({ status, code }: ModelAnswer): string | undefined {
  if (status === 403 && code === 'policy_denied') return undefined;
  return `status ${status} ${code ?? ''} instead of 403 policy_denied`;
}
