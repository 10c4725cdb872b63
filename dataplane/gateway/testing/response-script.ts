/** Builders of answers of the Responses API for tests, as the documentation of the API shows them. */

type Item = Readonly<Record<string, unknown>>;

/** A message of a model with these texts, each a part. */
export function messageItem(texts: readonly string[], id = 'msg_1'): Item {
  const content = texts.map((text) => ({ type: 'output_text', text, annotations: [] }));
  return { type: 'message', id, status: 'completed', role: 'assistant', content };
}

export function callItem(input: string, name = 'lookup', id = 'fc_1'): Item {
  return { type: 'function_call', id, call_id: `call_${id}`, name, arguments: input, status: 'completed' };
}

export function reasoningItem(summary: string, id = 'rs_1'): Item {
  return { type: 'reasoning', id, summary: [{ type: 'summary_text', text: summary }] };
}

/** A whole response. */
export function responseBody(output: readonly Item[], more: Item = {}) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'scripted',
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    metadata: {},
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    ...more,
  };
}

/** The events of a streamed response in their order; `cut` divides texts and arguments into pieces. */
export function responseEvents(
  output: readonly Item[],
  cut: (text: string) => readonly string[] = (text) => [text],
  more: Item = {},
): readonly Item[] {
  const empty = responseBody([], { ...more, status: 'in_progress' });
  const events: Item[] = [
    { type: 'response.created', response: empty },
    { type: 'response.in_progress', response: empty },
    ...output.flatMap((item, index) => itemEvents(item, index, cut)),
    { type: 'response.completed', response: responseBody(output, more) },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function itemEvents(item: Item, output_index: number, cut: (text: string) => readonly string[]): readonly Item[] {
  const at = { output_index, item_id: item['id'] };
  const added = { type: 'response.output_item.added', output_index, item: { ...item, ...emptied(item) } };
  return [added, ...bodyEvents(item, at, cut), { type: 'response.output_item.done', output_index, item }];
}

function emptied({ type }: Item): Item {
  if (type === 'message') return { content: [], status: 'in_progress' };
  if (type === 'function_call') return { arguments: '', status: 'in_progress' };
  return type === 'reasoning' ? { summary: [] } : {};
}

function bodyEvents(item: Item, at: Item, cut: (text: string) => readonly string[]): readonly Item[] {
  if (item['type'] === 'function_call') {
    const input = String(item['arguments']);
    const deltas = cut(input).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta }));
    return [...deltas, { type: 'response.function_call_arguments.done', ...at, arguments: input }];
  }
  if (item['type'] === 'reasoning') {
    const [{ text }] = item['summary'] as [{ text: string }];
    const on = { ...at, summary_index: 0 };
    const deltas = cut(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...on, delta }));
    const part = (value: string) => ({ part: { type: 'summary_text', text: value } });
    return [
      { type: 'response.reasoning_summary_part.added', ...on, ...part('') },
      ...deltas,
      { type: 'response.reasoning_summary_text.done', ...on, text },
      { type: 'response.reasoning_summary_part.done', ...on, ...part(text) },
    ];
  }
  const parts = item['content'] as readonly { readonly text: string }[];
  return parts.flatMap((part, content_index) => {
    const on = { ...at, content_index };
    return [
      { type: 'response.content_part.added', ...on, part: { ...part, text: '' } },
      ...cut(part.text).map((delta) => ({ type: 'response.output_text.delta', ...on, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...on, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...on, part },
    ];
  });
}

/** The bytes of a stream of these events. */
export function responseStream(events: readonly Item[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The events that a gateway sent. */
export function sentEvents(emitted: string): readonly Item[] {
  return emitted.split('\n\n').flatMap((event) => {
    const data = event.split('\n').find((line) => line.startsWith('data: '));
    return data === undefined ? [] : [JSON.parse(data.slice('data: '.length)) as Item];
  });
}
