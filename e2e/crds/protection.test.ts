import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import { fullObjects } from './full-objects.ts';
import { type ApiServerResponse, collection, item, testNamespace, useTestApi } from './test-api.ts';

const jsonPatch = 'application/json-patch+json';
const inNamespace = `--namespace=${testNamespace}`;
const confirmDeletion = 'portcullis.dev/confirm-deletion';
const confirmUnguarded = 'portcullis.dev/confirm-unguarded';

describe('the admission policies that protect guardrails', () => {
  // The controllers of the shared API server collect garbage and empty namespaces.
  const api = useTestApi();

  async function created(plural: string, body: object, at = collection(plural)): Promise<ApiServerResponse> {
    const answer = await api.send('POST', at, { body });
    expect(answer.status, answer.body.message).toBe(201);
    return answer;
  }

  const policy = (name: string, metadata: object = {}) =>
    ({ ...fullObjects.guardrailPolicy, metadata: { name, ...metadata } }) as const;
  const binding = (name: string, policyName: string, metadata: object = {}) =>
    ({
      ...fullObjects.modelBinding,
      metadata: { name, ...metadata },
      spec: {
        ...fullObjects.modelBinding.spec,
        guardrail: { mode: 'Policy', policyRef: { name: policyName, revision: 3 } },
      },
    }) as const;

  /** The status that the operator writes when the binding serves its first guarded application. */
  async function pin(name: string, at = item('modelbindings', `${name}/status`)): Promise<void> {
    const value = { pinned: { generationId: 'one', policyId: 'p', policyRevision: 3 } };
    const body = [{ op: 'add', path: '/status', value }];
    const answer = await api.send('PATCH', at, { body, contentType: jsonPatch });
    expect(answer.status, answer.body.message).toBe(200);
  }

  const remove = (plural: string, name: string) => api.send('DELETE', item(plural, name, ''));
  const patch = (plural: string, name: string, body: unknown) =>
    api.send('PATCH', item(plural, name), { body, contentType: jsonPatch });
  const setUnguarded = { op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } };

  test('a policy that a binding refers to is deleted only with a confirmation, and the refusal names the binding', async () => {
    await created('guardrailpolicies', policy('used'));
    await created('guardrailpolicies', policy('unused'));
    await created('modelbindings', binding('user', 'used'));
    const refusal = await until('the admission policy sees the binding', async () => {
      const answer = await api.send('DELETE', item('guardrailpolicies', 'used', 'dryRun=All'));
      return answer.status === 422 && answer;
    });
    expect(refusal.body.message).toContain('the ModelBinding user refers to the GuardrailPolicy used');
    expect(refusal.body.message).toContain(`kubectl annotate guardrailpolicy used ${confirmDeletion}=true`);
    expect((await remove('guardrailpolicies', 'unused')).status).toBe(200);
    const all = await api.send('DELETE', collection('guardrailpolicies', 'labelSelector='));
    expect(all).toMatchObject({ status: 422, body: { message: expect.stringContaining('ModelBinding user') } });
    expect(
      await api.kubectlOk([
        'get',
        'modelbindings',
        inNamespace,
        '--field-selector=spec.guardrail.policyRef.name=used',
        '--output=name',
      ]),
    ).toBe('modelbinding.portcullis.dev/user\n');
    await api.kubectlOk(['annotate', 'guardrailpolicy', 'used', `${confirmDeletion}=true`, inNamespace]);
    expect((await remove('guardrailpolicies', 'used')).status).toBe(200);
  });

  test('a policy that only versions of agents refer to is deleted only with a confirmation', async () => {
    const guardrails = {
      input: { mode: 'None' },
      output: { mode: 'Policy', policyRef: { name: 'agents', revision: 1 } },
    };
    const { agentVersion } = fullObjects;
    const version = (name: string, spec: object) => ({
      ...agentVersion,
      metadata: { name },
      spec: { ...agentVersion.spec, ...spec },
    });
    const open = { input: { mode: 'None' }, output: { mode: 'None' } };
    await created('guardrailpolicies', policy('agents'));
    await created('guardrailpolicies', policy('steps'));
    await created('agentversions', version('guarded-1', { guardrails, requires: [] }));
    await created(
      'agentversions',
      version('step-1', { guardrails: open, requires: [{ kind: 'Policy', name: 'steps' }] }),
    );
    for (const [name, user] of [
      ['agents', 'guarded-1'],
      ['steps', 'step-1'],
    ] as const) {
      const refusal = await until('the admission policy sees the version', async () => {
        const answer = await api.send('DELETE', item('guardrailpolicies', name, 'dryRun=All'));
        return answer.status === 422 && answer;
      });
      expect(refusal.body.message).toContain(`the AgentVersion ${user} refers to the GuardrailPolicy ${name}`);
      expect(refusal.body.message).toContain(`kubectl annotate guardrailpolicy ${name} ${confirmDeletion}=true`);
    }
    await api.kubectlOk(['annotate', 'guardrailpolicy', 'agents', `${confirmDeletion}=true`, inNamespace]);
    expect((await remove('guardrailpolicies', 'agents')).status).toBe(200);
    expect((await remove('agentversions', 'step-1')).status).toBe(200);
    await until('the admission policy sees that the version is gone', async () => {
      return (await remove('guardrailpolicies', 'steps')).status === 200;
    });
  });

  test('a policy that is served to services is deleted only with a confirmation', async () => {
    await created('guardrailpolicies', policy('documents'));
    const status = [{ op: 'add', path: '/status', value: { servedAs: ['texts', 'uploads'] } }];
    const written = await api.send('PATCH', item('guardrailpolicies', 'documents/status'), {
      body: status,
      contentType: jsonPatch,
    });
    expect(written.status, written.body.message).toBe(200);
    const refused = await remove('guardrailpolicies', 'documents');
    expect(refused).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('the served policy texts refers to the GuardrailPolicy documents') },
    });
    await api.kubectlOk(['annotate', 'guardrailpolicy', 'documents', `${confirmDeletion}=true`, inNamespace]);
    expect((await remove('guardrailpolicies', 'documents')).status).toBe(200);
  });

  test('a binding loses its guardrail only with a confirmation of its generation in the same change', async () => {
    const { metadata } = (await created('modelbindings', binding('open', 'some'))).body;
    const confirmationOf = (generation: number) => `${String(metadata?.['uid'])}.${generation}`;
    const confirm = (value: string) => ({
      op: 'add',
      path: '/metadata/annotations',
      value: { [confirmUnguarded]: value },
    });
    const refused = await patch('modelbindings', 'open', [setUnguarded]);
    expect(refused).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('would become UNGUARDED') },
    });
    expect(refused.body.message).toContain('Now revision 3 of some guards it');
    expect(refused.body.message).toContain(`${confirmUnguarded} to ${confirmationOf(1)} in the same change`);
    for (const other of ['yes', confirmationOf(0), confirmationOf(2), '.1']) {
      expect((await patch('modelbindings', 'open', [confirm(other), setUnguarded])).status).toBe(422);
    }
    expect((await patch('modelbindings', 'open', [confirm(confirmationOf(1))])).status).toBe(200);
    // A confirmation that is older than the change does not confirm the change.
    expect((await patch('modelbindings', 'open', [setUnguarded])).status).toBe(422);
    expect((await patch('modelbindings', 'open', [confirm('none')])).status).toBe(200);
    expect((await patch('modelbindings', 'open', [confirm(confirmationOf(1)), setUnguarded])).status).toBe(200);
    const guarded = { op: 'replace', path: '/spec/guardrail', value: binding('open', 'some').spec.guardrail };
    expect((await patch('modelbindings', 'open', [confirm('none'), guarded])).status).toBe(200);
    // The confirmation of the first change, as an exported object contains it, does not confirm a second change.
    expect((await patch('modelbindings', 'open', [confirm(confirmationOf(1)), setUnguarded])).status).toBe(422);
    expect((await patch('modelbindings', 'open', [confirm(confirmationOf(3)), setUnguarded])).status).toBe(200);
  });

  test('an agent serves a version with fewer checks only with a confirmation of its generation in the same change', async () => {
    for (const [name, checks] of [['desk-guarded-1', 'p'], ['desk-guarded-2', 'p'], ['open-1'], ['open-2']] as const) {
      await created('agentversions', sampleAgentVersion(name, checks));
    }
    const { metadata } = (await created('agents', sampleAgent('desk', 'desk-guarded-1'))).body;
    const status = [{ op: 'add', path: '/status', value: { checked: ['Input'] } }];
    expect(
      (await api.send('PATCH', item('agents', 'desk/status'), { body: status, contentType: jsonPatch })).status,
    ).toBe(200);
    const confirmationOf = (generation: number) => `${String(metadata?.['uid'])}.${generation}`;
    const serve = (version: string, confirmation = 'none') =>
      patch('agents', 'desk', [
        { op: 'add', path: '/metadata/annotations', value: { [confirmUnguarded]: confirmation } },
        { op: 'replace', path: '/spec/version', value: version },
      ]);
    const refused = await until('the admission policy sees the version', async () => {
      const answer = await api.send('PATCH', item('agents', 'desk', 'dryRun=All'), {
        body: [{ op: 'replace', path: '/spec/version', value: 'open-1' }],
        contentType: jsonPatch,
      });
      return answer.status === 422 && answer;
    });
    expect(refused.body.message).toContain('the version open-1 would leave texts UNGUARDED');
    expect(refused.body.message).toContain(`${confirmUnguarded} to ${confirmationOf(1)} in the same change`);
    expect(refused.body.message).toMatch(/or run: kubectl portcullis edit agent desk$/);
    const trial = { op: 'add', path: '/spec/canary', value: { version: 'open-1', percent: 1 } };
    expect((await patch('agents', 'desk', [trial])).status).toBe(422);
    expect((await serve('open-1', confirmationOf(2))).status).toBe(422);
    expect((await serve('desk-guarded-2')).status).toBe(200);
    expect((await serve('open-1', confirmationOf(1))).status).toBe(422);
    expect((await serve('open-1', confirmationOf(2))).status).toBe(200);
    expect((await serve('open-2', confirmationOf(2))).status).toBe(422);
    expect((await serve('open-2', confirmationOf(3))).status).toBe(200);
  });

  test('a version that its agent names already is created with fewer checks only with a confirmation of that agent', async () => {
    await created('agentversions', sampleAgentVersion('hello-guarded-1', 'p'));
    const { metadata } = (await created('agents', sampleAgent('hello', 'late-1'))).body;
    const status = [{ op: 'add', path: '/status', value: { checked: ['Input'] } }];
    const stated = await api.send('PATCH', item('agents', 'hello/status'), { body: status, contentType: jsonPatch });
    expect(stated.status).toBe(200);
    const late = (confirmation: string, more = '') => {
      const version = sampleAgentVersion('late-1');
      const annotations = { [confirmUnguarded]: confirmation };
      const body = { ...version, metadata: { ...version.metadata, annotations } };
      return api.send('POST', collection('agentversions') + more, { body });
    };
    const refused = await until('the admission policy sees the agent', async () => {
      const answer = await late('none', '&dryRun=All');
      return answer.status === 422 && answer;
    });
    const confirmation = `${String(metadata?.['uid'])}.1`;
    expect(refused.body.message).toContain(
      'the Agent hello names the version late-1, which would leave texts UNGUARDED',
    );
    expect(refused.body.message).toContain(`${confirmUnguarded} set to ${confirmation}`);
    expect((await late(`${String(metadata?.['uid'])}.2`)).status).toBe(422);
    await created('agentversions', sampleAgentVersion('other-1'));
    expect((await late(confirmation)).status).toBe(201);
  });

  test('a binding that guards a model is deleted only with a confirmation, and a binding that never served is deleted immediately', async () => {
    await created('modelbindings', binding('idle', 'some'));
    expect((await remove('modelbindings', 'idle')).status).toBe(200);
    await created('modelbindings', binding('guards', 'some'));
    await pin('guards');
    const refused = await remove('modelbindings', 'guards');
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining('guards the model') } });
    await api.kubectlOk(['annotate', 'modelbinding', 'guards', `${confirmDeletion}=true`, inNamespace]);
    expect((await remove('modelbindings', 'guards')).status).toBe(200);
  });

  test('kubectl delete -f of a folder names the remedy, after which it deletes everything', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-folder-'));
    const files = [policy('folder-policy'), binding('folder-binding', 'folder-policy')];
    for (const [index, object] of files.entries()) {
      await writeFile(join(folder, `${index}.json`), JSON.stringify(object));
    }
    await api.kubectlOk(['apply', `--filename=${folder}`, inNamespace]);
    await pin('folder-binding');
    const refused = await until('the admission policy sees the binding', async () => {
      const end = await api.kubectl(['delete', `--filename=${folder}`, '--dry-run=server', inNamespace]);
      return end.code !== 0 && end.stderr.includes('refers to the GuardrailPolicy') && end;
    });
    expect(refused.stderr).toContain(confirmDeletion);
    await api.kubectlOk(['annotate', `--filename=${folder}`, `${confirmDeletion}=true`, inNamespace]);
    await api.kubectlOk(['delete', `--filename=${folder}`, '--wait=false', inNamespace]);
  });

  test('the garbage collector deletes a guarding binding and its policy with their owner', async () => {
    const owner = await created('configmaps', { metadata: { name: 'owner' } }, core('configmaps'));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.body.metadata?.['uid'] }];
    await created('guardrailpolicies', policy('owned', { ownerReferences }));
    await created('modelbindings', binding('owned', 'owned', { ownerReferences }));
    await pin('owned');
    expect((await api.send('DELETE', `${core('configmaps')}/owner`)).status).toBe(200);
    for (const plural of ['guardrailpolicies', 'modelbindings']) {
      await until(`the owned object of ${plural} is gone`, async () => {
        return (await api.send('GET', item(plural, 'owned', ''))).status === 404;
      });
    }
  });

  test('a namespace with a guarding binding and its policy is deleted', async () => {
    const name = `${testNamespace}-ending`;
    await api.kubectlOk(['create', 'namespace', name]);
    const at = (plural: string) => collection(plural).replace(testNamespace, name);
    await created('guardrailpolicies', policy('last'), at('guardrailpolicies'));
    await created('modelbindings', binding('last', 'last'), at('modelbindings'));
    await pin('last', item('modelbindings', 'last/status').replace(testNamespace, name));
    await api.kubectlOk(['delete', 'namespace', name, '--timeout=120s']);
    expect((await api.send('GET', `/api/v1/namespaces/${name}`)).status).toBe(404);
  });

  const core = (plural: string): string => `/api/v1/namespaces/${testNamespace}/${plural}`;
});
