import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { applyRevision, bindingNow, bindingOf, conditionOf, policyOf, writePolicy } from '../../support/resources.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';
import { outlived, startJudgedTraffic, type TrafficReport, untilServed } from './judged-traffic.ts';
import { markedDefinition } from './marked-policy.ts';

type CutoverOptions = {
  readonly applications: number;
  readonly gateways: number;
  readonly say: (progress: string) => void;
};

type CutoverReport = TrafficReport & { readonly applications: number; readonly outlived: number };

const alias = 'cutover';

/** Records each revision and applies it as soon as the previous revision is confirmed. */
async function applyAll(platform: Platform, options: CutoverOptions): Promise<void> {
  const { client } = platform;
  for (let turn = 1; turn <= options.applications; turn += 1) {
    const wanted = turn + 1;
    const revision = await writePolicy(client, policyOf(alias, markedDefinition(wanted, options.applications + 1)));
    const generation = await applyRevision(client, alias, revision, `turn-${turn}`);
    await until(
      `application ${turn} is applied`,
      async () => {
        const binding = await bindingNow(client, alias);
        const applied = conditionOf(binding, 'Applied');
        return binding.metadata.generation === generation && applied?.status === 'True';
      },
      { everyMs: 25 },
    );
    if (turn % 10 === 0) options.say(`${turn} of ${options.applications} applications`);
  }
}

/** Runs the whole scenario on a separate platform. */
export async function runCutover(options: CutoverOptions): Promise<CutoverReport> {
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'not yet' });
  await using platform = await startPlatform({
    gateways: options.gateways,
    providers: [{ name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true }],
  });
  const first = await writePolicy(platform.client, policyOf(alias, markedDefinition(1, options.applications + 1)));
  await platform.client.create(kinds.modelBinding, bindingOf(alias, alias, first));
  await until(
    'the first application is applied',
    async () => conditionOf(await bindingNow(platform.client, alias), 'Applied')?.status === 'True',
  );
  const served = { urls: platform.status().addresses.gateways, key: platform.key, alias };
  await untilServed(served);
  const traffic = startJudgedTraffic({ ...served, upstream });
  await applyAll(platform, options);
  return { ...(await traffic.stop()), applications: options.applications, outlived };
}
