import { expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { embeddingKeys, rerankKeys } from '../chat/known-keys.ts';
import { readEmbeddingRequest } from '../embeddings/read-embedding-request.ts';
import { readParameterTexts } from '../judged/request-texts.ts';
import { readRerankRequest } from '../rerank/read-rerank-request.ts';
import { formsAt, holdsForm } from '../testing/text-forms.ts';

const all: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const none: ReadonlySet<JudgedTextKind> = new Set();
const other = 'other_member';

/** The reader of a request, its members but the model, which is looked up, and those that are inputs. */
const requests = [
  ['embeddings', readEmbeddingRequest, embeddingKeys, ['input'], { input: ['hi'] }],
  ['rerank', readRerankRequest, rerankKeys, ['query', 'documents'], { query: 'hi', documents: ['hi'] }],
] as const;

test.each(requests)(
  'every text at any member of a request for %s is judged or refused',
  (_, readInputs, known, inputs, base) => {
    const keys = [...known, other].filter((key) => key !== 'model');
    const put = (key: string, value: unknown): object => ({ ...base, [key]: value });
    const unseen = formsAt(keys, put).filter(({ value }) => {
      const bytes = value({ model: 'm' });
      const root = parseTree(bytes);
      const read = readInputs(root, new Set([other]));
      if (!read.ok || root.kind !== 'object') return false;
      const contract = read.value.map(({ content }) => content);
      const further = (judged: ReadonlySet<JudgedTextKind>) =>
        readParameterTexts(root, bytes, judged, new Set(['model', ...inputs]));
      const isJudged = holdsForm([...contract, ...further(all).units.map(({ content }) => content)]);
      return !isJudged || !(holdsForm(contract) || further(none).unjudgedAt !== undefined);
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  },
);
