import { Agent, request } from 'node:http';
import { kinds } from '#crds/kinds';
import type { ModelBinding } from '#crds/model-binding';
import { bindingOf } from '../support/resources.ts';
import { startPlatform } from '../support/start-platform.ts';
import { until } from '../support/until.ts';
import { median } from './median.ts';
import { proseOf } from './texts.ts';

export type GatewayFigure = {
  readonly name: string;
  /** Milliseconds, medians. */
  readonly unguarded: number;
  readonly guarded: number;
  /** Median of the differences of neighbours. */
  readonly added: number;
};

type Call = { readonly firstByte: number; readonly total: number };

/** First byte and total time of a guarded model beside an unguarded one, in turns, on one connection. */
export async function measureGateway(pairs: number): Promise<readonly GatewayFigure[]> {
  await using platform = await startPlatform();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const plain = bindingOf('plain-echo', 'guarded-chat', 1, 'echo');
  await platform.client.create<ModelBinding>(kinds.modelBinding, {
    ...plain,
    spec: { ...plain.spec, model: { ...plain.spec.model, upstreamModel: 'echo' }, guardrail: { mode: 'None' } },
  });
  const { gateway } = platform.status().addresses;
  const call = (model: string, stream: boolean) => callOnce({ agent, url: gateway, key: platform.key, model, stream });
  await until('both models answer', async () => {
    const answers = await Promise.allSettled([call('plain-echo', false), call('guarded-echo', false)]);
    return answers.every(({ status }) => status === 'fulfilled');
  });
  const figures: GatewayFigure[] = [];
  for (const stream of [false, true]) {
    const [guarded, unguarded]: [Call[], Call[]] = [[], []];
    for (let pair = -20; pair < pairs; pair++) {
      const first = await call('plain-echo', stream);
      const second = await call('guarded-echo', stream);
      if (pair < 0) continue;
      unguarded.push(first);
      guarded.push(second);
    }
    const kind = stream ? 'streamed' : 'buffered';
    figures.push(figure(`${kind}, first byte`, 'firstByte', unguarded, guarded));
    figures.push(figure(`${kind}, total`, 'total', unguarded, guarded));
  }
  agent.destroy();
  return figures;
}

function figure(name: string, part: keyof Call, unguarded: readonly Call[], guarded: readonly Call[]): GatewayFigure {
  const added = guarded.map((call, index) => call[part] - (unguarded[index]?.[part] ?? Number.NaN));
  return {
    name,
    unguarded: median(unguarded.map((call) => call[part])),
    guarded: median(guarded.map((call) => call[part])),
    added: median(added),
  };
}

const content = proseOf('latin', 1_024);

function callOnce(to: {
  readonly agent: Agent;
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
}): Promise<Call> {
  const { agent, url, key, model, stream } = to;
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
      let firstByte = 0;
      answer.on('data', () => {
        if (firstByte === 0) firstByte = performance.now() - start;
      });
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve({ firstByte, total: performance.now() - start });
        else reject(new Error(`${model} answered ${answer.statusCode}`));
      });
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
