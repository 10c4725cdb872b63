import { currentProfile } from '#contracts/profiles';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import { ApiRefusal } from '../../operator/folder-api/api-refusal.ts';
import type { Death } from '../../operator/testing/mortal-client.ts';
import {
  askingDefinitionOf,
  bindingObject,
  definitionOf,
  guardedBy,
  policyObject,
} from '../../operator/testing/objects.ts';
import { type Act, aliases } from './acts.ts';
import { type Contradictions, type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { createWatchman, type Watchman } from './invariants.ts';
import { createMemoryApi, type MemoryApi } from './memory-api.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { asking, type OperatorProcess, type Sabotage, startOperatorProcess } from './operator-process.ts';
import { fineWeather, type Network } from './unreliable-client.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Two operators, two gateways and the cluster around them. */
export type ModelInstallation = {
  readonly api: MemoryApi;
  readonly nodes: Nodes;
  readonly network: Network;
  readonly watchman: Watchman;
  operators(): readonly OperatorProcess[];
  gateways(): readonly GatewayProcess[];
  leader(): OperatorProcess | undefined;
  perform(act: Act): Promise<void>;
  /** Ends every fault, and ensures that two operators and two gateways run. */
  calm(): void;
};

/** Restarts the processes of a Deployment after a short time. */
const restartMs = 1_000;

type InstallationOptions = {
  /** The moment at which the first leader is killed. */
  readonly death?: Death;
  /** A defect that every operator has. */
  readonly sabotage?: Sabotage | undefined;
};

export function startInstallation(time: VirtualTime, options: InstallationOptions = {}): ModelInstallation {
  return new Simulation(time, options);
}

class Simulation implements ModelInstallation {
  readonly api: MemoryApi;
  readonly nodes: Nodes;
  readonly network: Network;
  readonly watchman: Watchman;
  readonly #time: VirtualTime;
  readonly #sabotage: Sabotage | undefined;
  readonly #contradictions: Contradictions = new Map();
  #operators: OperatorProcess[] = [];
  #gateways: GatewayProcess[] = [];
  #started = 0;
  #tokens = 0;

  constructor(time: VirtualTime, { death, sabotage }: InstallationOptions) {
    this.#time = time;
    this.#sabotage = sabotage;
    const api = createMemoryApi(time);
    this.watchman = createWatchman({
      api,
      now: time.clock.now,
      gateways: () => this.#gateways,
      isOperator: (writer) => writer.startsWith('operator-'),
    });
    api.onChange((change) => this.watchman.changed(change));
    const { watchman } = this;
    this.api = {
      ...api,
      write(writer, request) {
        watchman.asked(writer, request);
        return api.write(writer, request);
      },
    };
    this.nodes = createNodes(time, this.api);
    this.network = { time, api: this.api, weather: { ...fineWeather }, cuts: new Set() };
    for (const index of [0, 1]) this.#startGateway(index);
    // The first operator becomes the leader.
    this.#startOperator(death);
    time.schedule(500, () => this.#startOperator());
  }

  operators = (): readonly OperatorProcess[] => this.#operators;
  gateways = (): readonly GatewayProcess[] => this.#gateways;
  leader = (): OperatorProcess | undefined => this.#operators.find((one) => one.isLeading());

  #startOperator(death?: Death): void {
    const name = `operator-${this.#started++}`;
    const onSurprise = (controller: string): void => this.watchman.surprised(controller);
    this.#operators.push(startOperatorProcess(this.network, name, { death, onSurprise, sabotage: this.#sabotage }));
  }

  #startGateway(index: number): void {
    const name = `gateway-${index}`;
    if (this.#gateways.some((one) => one.name === name && one.life.state() !== 'dead')) return;
    this.nodes.setGatewayPod(name, true);
    const observer = this.watchman.traffic;
    const options = { nodes: this.nodes, contradictions: this.#contradictions, aliases, observer };
    const gateway = startGatewayProcess(this.network, name, options);
    this.#gateways = [...this.#gateways.filter((one) => one.name !== name), gateway];
  }

  /** Starts a new process shortly after a process has exited, as a kubelet does. */
  keepTwo(afterMs: number): void {
    this.#time.schedule(afterMs, () => {
      this.#operators = this.#operators.filter(({ life }) => life.state() !== 'dead');
      while (this.#operators.length < 2) this.#startOperator();
    });
  }

  calm(): void {
    const { weather } = this.network;
    Object.assign(weather, fineWeather);
    this.#contradictions.clear();
    this.nodes.startWithinMs = 1_500;
    for (const { life } of this.#operators) life.thaw();
    for (const index of [0, 1]) this.#startGateway(index);
    this.#watchOver();
  }

  /**
   * From now on a process that exits during the calm phase is also restarted: its crash may have been scheduled
   * earlier.
   */
  #watchOver(): void {
    this.keepTwo(0);
    this.#time.schedule(restartMs, () => this.#watchOver());
  }

  async perform(act: Act): Promise<void> {
    try {
      await this.#perform(act);
    } catch (error) {
      // The API server may refuse an action, for example an edit of an object that is being deleted.
      if (!(error instanceof ApiRefusal)) throw error;
    }
    // A process that exited because of an earlier action is restarted.
    if (this.#operators.some(({ life }) => life.state() === 'dead')) this.keepTwo(restartMs);
  }

  async #perform(act: Act): Promise<void> {
    const { weather, cuts } = this.network;
    switch (act.do) {
      case 'save_policy':
        return this.#savePolicy(act.policy, {
          definition: act.term === asking ? askingDefinitionOf(asking) : definitionOf(act.term),
        });
      case 'archive_policy':
        return this.#savePolicy(act.policy, { lifecycle: act.archived ? 'Archived' : 'Draft' });
      case 'delete_policy':
        return this.#delete(kinds.guardrailPolicy, act.policy);
      case 'apply':
        return this.#bind(act.binding, { guardrail: guardedBy(act.revision, act.policy), apply: this.#token() });
      case 'back_and_forth':
        return this.#backAndForth(act);
      case 'unguard':
        return this.#bind(act.binding, { guardrail: { mode: 'None' }, apply: this.#token() });
      case 'reapply':
        return this.#bind(act.binding, { apply: this.#token() });
      case 'switch':
        return this.#bindModel(act.binding, { state: act.state });
      case 'scale':
        return this.#bind(act.binding, { replicas: act.replicas });
      case 'rename':
        return this.#bindModel(act.binding, { alias: act.alias });
      case 'swap':
        return this.#swap(act.binding, act.other);
      case 'delete_binding':
        return this.#delete(kinds.modelBinding, act.binding);
      case 'kill_leader':
        this.leader()?.life.kill();
        return this.keepTwo(act.backAfterMs);
      case 'kill_standby':
        this.#operators.find((one) => !one.isLeading())?.life.kill();
        return this.keepTwo(act.backAfterMs);
      case 'end_leader':
        return this.#endLeader();
      case 'die_at_write':
        this.leader()?.life.kill();
        this.#operators = this.#operators.filter(({ life }) => life.state() !== 'dead');
        this.#startOperator({ write: act.write, moment: act.moment });
        for (const one of this.#operators.slice(0, -1)) one.life.kill();
        return this.keepTwo(restartMs);
      case 'freeze_leader': {
        const life = this.leader()?.life;
        life?.freeze();
        return void this.#time.schedule(act.forMs, () => life?.thaw());
      }
      case 'restart_gateway': {
        const name = `gateway-${act.gateway}`;
        this.#gateways.find((one) => one.name === name)?.life.kill();
        this.nodes.setGatewayPod(name, false);
        return void this.#time.schedule(act.backAfterMs, () => this.#startGateway(act.gateway));
      }
      case 'contradict':
        return void this.#contradictions.set(`gateway-${act.gateway}`, { until: this.#time.clock.now() + act.forMs });
      case 'crash_pods':
        return this.nodes.crashPods(act.forMs);
      case 'lose_provider':
        weather.providerAway = true;
        this.#time.schedule(act.forMs, () => {
          weather.providerAway = false;
        });
        return;
      case 'slow_pods':
        this.nodes.startWithinMs = act.withinMs;
        return;
      case 'outage':
        for (const cut of [...cuts]) cut();
        weather.outageUntil = Math.max(weather.outageUntil, this.#time.clock.now() + act.forMs);
        return;
      case 'storm':
        Object.assign(weather, { loss: act.loss, refusals: act.refusals, slow: act.slow / 10 });
        return;
      case 'calm':
        Object.assign(weather, fineWeather);
        return;
      case 'silent_watches':
        weather.silence = act.share;
        return;
      case 'cut_watches':
        for (const cut of [...cuts]) cut();
        return;
      case 'forget_history':
        this.api.compact();
        for (const cut of [...cuts]) cut();
        return;
      case 'remove_bundles':
        for (const { metadata } of this.api.list(builtinKinds.configMap).items) {
          this.#delete(builtinKinds.configMap, metadata.name);
        }
        return;
      case 'pause':
        return this.#time.advance(act.ms);
    }
  }

  async #endLeader(): Promise<void> {
    const leader = this.leader();
    if (leader === undefined) return;
    void leader.end();
    // A process that does not exit in time is killed.
    this.#time.schedule(30_000, () => leader.life.kill());
    this.keepTwo(restartMs);
    this.#time.schedule(31_000, () => this.keepTwo(0));
  }

  #token(): string {
    this.#tokens += 1;
    return `token-${this.#tokens}`;
  }

  #savePolicy(name: string, change: Partial<GuardrailPolicy['spec']>): void {
    const held = this.api.get(kinds.guardrailPolicy, name) as Stored<GuardrailPolicy> | undefined;
    if (held === undefined) this.#create(kinds.guardrailPolicy, policyObject(name, change));
    else this.#replaceSpec(kinds.guardrailPolicy, name, { ...held.spec, ...change });
  }

  #bind(name: string, change: Partial<ModelBindingSpec>): void {
    const held = this.api.get(kinds.modelBinding, name) as Stored<ModelBinding> | undefined;
    if (held === undefined) this.#create(kinds.modelBinding, bindingObject(name, change));
    else this.#replaceSpec(kinds.modelBinding, name, { ...held.spec, ...change });
  }

  #bindModel(name: string, change: Partial<ModelBindingSpec['model']>): void {
    const held = this.api.get(kinds.modelBinding, name) as Stored<ModelBinding> | undefined;
    const model = held?.spec.model ?? bindingObject(name).spec.model;
    this.#bind(name, { model: { ...model, ...change } });
  }

  async #backAndForth({ binding, revision, newTokens }: Extract<Act, { do: 'back_and_forth' }>): Promise<void> {
    const held = this.api.get(kinds.modelBinding, binding) as Stored<ModelBinding> | undefined;
    const { guardrail, apply = '' } = held?.spec ?? bindingObject(binding).spec;
    const there = { guardrail: guardedBy(revision), contentProfile: currentProfile };
    this.#bind(binding, { ...there, ...(newTokens ? { apply: this.#token() } : {}) });
    await this.#time.advance(300 * this.#time.random());
    this.#bind(binding, { guardrail, apply: newTokens ? this.#token() : apply });
  }

  async #swap(one: string, other: string): Promise<void> {
    const [first, second] = [one, other].map(
      (name) => (this.api.get(kinds.modelBinding, name) as Stored<ModelBinding> | undefined)?.spec.model.alias ?? name,
    );
    this.#bindModel(one, { alias: second ?? other });
    await this.#time.advance(300 * this.#time.random());
    this.#bindModel(other, { alias: first ?? one });
  }

  #create(kind: Kind, object: GuardrailPolicy | ModelBinding): void {
    this.api.write('user', { verb: 'create', kind, object });
  }

  #replaceSpec(kind: Kind, name: string, value: unknown): void {
    this.api.write('user', {
      verb: 'patch',
      kind,
      name,
      operations: [{ op: 'replace', path: '/spec', value } as never],
    });
  }

  #delete(kind: Kind, name: string): void {
    const uid = this.api.get(kind, name)?.metadata.uid;
    if (uid !== undefined) this.api.write('user', { verb: 'delete', kind, name, options: { uid } });
  }
}
