import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kubectl, kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { ClusterManagement } from './open-management.ts';
import type { Timetable } from './timetable.ts';
import { chartFolder, helm } from './tools/helm.ts';
import { valuesPath } from './tools/render-chart.ts';
import type { TestCluster } from './tools/test-cluster.ts';

/** The release under test, for tests of its database. */
export type DatabaseInstallation = {
  readonly release: string;
  readonly cluster: () => TestCluster;
  /** Values with which the release was installed. */
  readonly ownArgs: () => readonly string[];
  /** An operation that completed before the tests that could lose it. */
  readonly early: () => string;
  readonly admin: (args: readonly string[]) => Promise<string>;
  readonly manage: () => Promise<ClusterManagement>;
  readonly askOnce: (content: string) => Promise<unknown>;
  readonly timed: Timetable['timed'];
};

const minutes = (count: number): number => count * 60_000;
export const policiesPath = '/api/v1/guardrail-policies';

export function testKilledDatabase({ release, early, admin, manage, askOnce, timed }: DatabaseInstallation): void {
  test(
    'a killed database loses no accepted command, and the management API recovers',
    async () => {
      await using management = await manage();
      const { read, command, succeeded } = management;
      const accepted: { readonly name: string; readonly answer: Awaited<ReturnType<typeof command>> }[] = [];
      let isOver = false;
      const work = async (worker: number): Promise<void> => {
        for (let count = 0; !isOver; count++) {
          const name = `Policy-${worker}-${count}`;
          accepted.push({
            name,
            answer: await command('POST', policiesPath, { name, definition: definitionOf(name) }),
          });
          await pause(100);
        }
      };
      const workers = [0, 1, 2].map(work);
      await until('commands are accepted', () => accepted.length >= 10, { deadlineMs: minutes(1) });
      const pod = `${release}-postgres-0`;
      const readyUid = '--output=jsonpath={.metadata.uid} {.status.conditions[?(@.type=="Ready")].status}';
      const [before] = (await admin(['get', 'pod', pod, readyUid])).split(' ');
      await timed('database back after a kill', `kubectl delete pod ${pod} --grace-period=0 --force`, async () => {
        await admin(['delete', 'pod', pod, '--grace-period=0', '--force']);
        await until(
          'another database pod is ready',
          async () => {
            const [uid, ready] = (await admin(['get', 'pod', pod, '--ignore-not-found', readyUid])).split(' ');
            return uid !== before && ready === 'True';
          },
          { deadlineMs: minutes(2), everyMs: 200 },
        );
        const away = accepted.length;
        await until('more are accepted', () => accepted.length >= away + 10, { deadlineMs: minutes(2), everyMs: 50 });
      });
      isOver = true;
      await Promise.all(workers);
      for (const { answer } of accepted) await succeeded(answer);
      const names = '--output=jsonpath={range .items[*]}{.spec.displayName}{"\\n"}{end}';
      const there = (await admin(['get', 'guardrailpolicies.portcullis.dev', names])).trim().split('\n');
      expect(there.filter((name) => name.startsWith('Policy-')).toSorted()).toEqual(
        accepted.map(({ name }) => name).toSorted(),
      );
      expect((await read(`/api/v1/operations/${early()}`)).status).toBe(200);
      expect(await askOnce('hello')).toMatchObject({ status: 200, text: 'hello' });
      await admin([
        'delete',
        'guardrailpolicies.portcullis.dev',
        '--field-selector=metadata.name!=guarded-chat',
        '--timeout=2m',
      ]);
    },
    minutes(8),
  );
}

export function testPlaceOfData({ release, cluster, ownArgs }: DatabaseInstallation): void {
  test(
    'an installation without a default storage class is refused with instructions',
    async ({ skip }) => {
      if (!cluster().isOurs) skip('the default StorageClass is only removed on a cluster that the suite started');
      const ofCluster = (...args: readonly string[]) => kubectlOk(cluster().kubeconfigFile, args);
      const key = 'storageclass.kubernetes.io/is-default-class';
      const [name = ''] = (
        await ofCluster('get', 'storageclasses', '--output=jsonpath={.items[*].metadata.name}')
      ).split(' ');
      const elsewhere = ['--namespace=elsewhere', '--values', valuesPath('second-release-values.yaml')];
      const dry = (...args: readonly string[]) =>
        helm(['install', 'other', chartFolder, ...elsewhere, '--dry-run=server', ...args], cluster().kubeconfigFile);
      const claim = '--set=postgresql.persistence=claim';
      await ofCluster('create', 'namespace', 'elsewhere');
      expect(await dry(claim)).toMatchObject({ code: 0 });
      await ofCluster('annotate', 'storageclass', name, `${key}=false`, '--overwrite');
      try {
        const refused = await dry(claim);
        expect(refused.code).not.toBe(0);
        expect(refused.stderr).toMatch(/no default StorageClass\. Set postgresql\.storage\.storageClassName, or set/);
        expect(await dry(claim, `--set=postgresql.storage.storageClassName=${name}`)).toMatchObject({ code: 0 });
        expect(await dry('--set=postgresql.persistence=none')).toMatchObject({ code: 0 });
        expect(await helm(['template', 'other', chartFolder, ...elsewhere, claim])).toMatchObject({ code: 0 });
        // A release that names an existing volume claim needs no default storage class.
        const own = ['upgrade', release, chartFolder, `--namespace=${cluster().namespace}`, ...ownArgs()];
        expect(await helm([...own, '--dry-run=server'], cluster().kubeconfigFile)).toMatchObject({ code: 0 });
      } finally {
        await ofCluster('annotate', 'storageclass', name, `${key}=true`, '--overwrite');
      }
    },
    minutes(3),
  );
}

export function testOtherMajorVersion(installation: DatabaseInstallation): void {
  const { release, cluster, early, admin, manage, askOnce } = installation;
  test(
    'a database of another major version is left unchanged, reported with instructions, and recoverable',
    async () => {
      const pod = `${release}-postgres-0`;
      const version = '/var/lib/portcullis/postgres/db/data/PG_VERSION';
      const scale = (target: string, replicas: number) => admin(['scale', target, `--replicas=${replicas}`]);
      await admin(['exec', pod, '--', 'node', '--eval', `fs.writeFileSync("${version}", "17\\n")`]);
      await admin(['delete', 'pod', pod]);
      await until(
        'the pod reports why it exits',
        async () => {
          const { stdout } = await kubectl(cluster().kubeconfigFile, [
            `--namespace=${cluster().namespace}`,
            'logs',
            pod,
          ]);
          return /holds a database of PostgreSQL 17.*database-of-another-major-version\.md/.test(stdout);
        },
        { deadlineMs: minutes(2), everyMs: 500 },
      );
      expect(await askOnce('hello')).toMatchObject({ status: 200, text: 'hello' });
      // The steps of the runbook for starting with an empty database.
      for (const target of [`statefulset/${release}-postgres`, `deployment/${release}-management`])
        await scale(target, 0);
      await admin(['wait', '--for=delete', `pod/${pod}`, '--timeout=2m']);
      await admin(['delete', 'persistentvolumeclaim', `data-${pod}`]);
      await scale(`statefulset/${release}-postgres`, 1);
      await admin(['rollout', 'status', `statefulset/${release}-postgres`, '--timeout=2m']);
      await scale(`deployment/${release}-management`, 2);
      await admin(['rollout', 'status', `deployment/${release}-management`, '--timeout=2m']);
      await using management = await manage();
      expect(await management.read(policiesPath)).toMatchObject({ status: 200 });
      expect(await management.read(`/api/v1/operations/${early()}`)).toMatchObject({ status: 404 });
    },
    minutes(8),
  );
}
