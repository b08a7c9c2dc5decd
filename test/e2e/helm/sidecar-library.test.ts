// class: chart
import t, { type Test } from 'tap';
import { cpSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { withoutHelm, withoutSchemas } from '../../support/chart-tools.ts';
import {
  chartTest,
  readManifests,
  readText,
  runHelm,
  type Rendered,
  type Values,
} from '../../support/helm.ts';
import { kubernetesCheck, kubernetesVersions } from '../../support/kubernetes-schemas.ts';
import { only, podOf, type Manifest } from '../../support/manifest.ts';

chartTest(
  'a chart that uses the library makes the pods that examples/sidecar/shop.yaml writes out',
  async (t) => {
    const written = readManifests(readText('examples/sidecar/shop.yaml'));
    const { text, complaint } = shop(t, {});
    const rendered = readManifests(text);
    t.equal(rendered.length, written.length, complaint);
    for (const one of written)
      t.same(comparable(only(rendered, one.kind)), comparable(one), `${one.kind} ${one.metadata.name}`);
  },
);

t.test('Kubernetes accepts what it makes', { skip: withoutHelm || withoutSchemas }, async (t) => {
  const everything = {
    preStopSeconds: 3,
    redis: { existingSecret: 'cache' },
    admin: { tokensSecret: 'operators', roles: { alice: 'support' } },
    extraEnv: [{ name: 'LOG_LEVEL', value: 'warn' }],
    envFrom: [{ secretRef: { name: 'tracing' } }],
    extraVolumeMounts: [{ name: 'gateway', mountPath: '/x' }],
  };
  const rendered = readManifests(shop(t, everything).text);
  for (const version of kubernetesVersions) t.same(rendered.flatMap(kubernetesCheck(version)), [], version);
  const spec = podOf(only(rendered, 'Deployment'))?.spec;
  t.equal(spec?.containers[0]?.lifecycle?.preStop?.sleep?.seconds, 13, 'preStopSeconds and the drain');
  t.equal(spec?.terminationGracePeriodSeconds, 23);
});

chartTest('each operator has a token of its own, as in the main chart', async (t) => {
  const made = (admin: Values): readonly [config: unknown, container: Container | undefined, pod: string] => {
    const { text, complaint } = shop(t, { admin: { existingSecret: '', ...admin } });
    const rendered = readManifests(text);
    t.equal(complaint, '');
    const spec = podOf(only(rendered, 'Deployment'))?.spec;
    const container = spec?.containers.find(({ name }) => name === 'gateway');
    return [
      parse(String(only(rendered, 'ConfigMap').data?.['gateway.yaml'])),
      container as Container | undefined,
      text,
    ];
  };
  const folder = '/etc/tenancy-gateway/operators';
  const mount = { name: 'gateway-operator-tokens', mountPath: folder, readOnly: true };
  const [config, withRoles, text] = made({ tokensSecret: 'operators', roles: { alice: 'support' } });
  t.match(config, {
    internal: { admin_tokens: { alice: { token_file: `${folder}/alice`, role: 'support' } } },
  });
  t.ok(withRoles?.volumeMounts.some((one) => JSON.stringify(one) === JSON.stringify(mount)));
  t.notOk(withRoles?.env.some(({ name }) => name.startsWith('ADMIN_TOKEN')));
  t.match(text, /secret: \{ secretName: operators \}|secretName: operators/);
  const [plain, withoutRoles] = made({ tokensSecret: 'operators' });
  t.notMatch(plain, { internal: {} });
  t.match(
    withoutRoles?.env.find(({ name }) => name === 'ADMIN_TOKENS_DIR'),
    { value: folder },
  );
  const annotation = /gateway-config: (\w+)/;
  const [, , other] = made({ tokensSecret: 'operators', roles: { alice: 'admin' } });
  t.not(annotation.exec(text)?.[1], annotation.exec(other)?.[1], 'another role makes new pods');
});

chartTest('what is missing or misspelled is said, and nothing is made', async (t) => {
  const wrong: [Values, RegExp][] = [
    [{ image: { repository: '' } }, /image.repository of the gateway/],
    [{ database: { existingSecret: '' } }, /database.existingSecret of the gateway/],
    [{ config: { upstream_url: '' } }, /upstream_url, or routes/],
    [{ databse: {} }, /databse/],
    [{ admin: { roles: { alice: 'admin' } } }, /set admin.tokensSecret/],
    [{ admin: { tokensSecret: 'operators', roles: { alice: 'owner' } } }, /roles.alice|\/roles\/alice/],
  ];
  for (const [values, complaint] of wrong) {
    const { ok, complaint: said } = shop(t, values);
    t.notOk(ok);
    t.match(said, complaint);
  }
});

/** A container as the library makes it. */
interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly object[];
}

/** The example's chart, with these values of the sidecar on top of its own. */
function shop(t: Test, gateway: Values): Rendered {
  const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
  const folder = t.testdir({});
  cpSync(at('examples/sidecar/chart'), folder, {
    recursive: true,
    filter: (path) => !/charts$|\.lock$/.test(path),
  });
  mkdirSync(`${folder}/charts`);
  cpSync(at('helm/tenancy-gateway-sidecar'), `${folder}/charts/tenancy-gateway-sidecar`, { recursive: true });
  return runHelm(['template', 'shop', folder], { gateway });
}

/** Without what says the same in other words: the order of variables, defaults, and the text of the configuration. */
function comparable(manifest: Manifest): unknown {
  const copy = structuredClone(manifest) as unknown as {
    data?: Record<string, unknown>;
    spec?: {
      template?: {
        metadata: { annotations?: unknown };
        spec: { containers: { imagePullPolicy?: string; env: { name: string }[] }[] };
      };
    };
  };
  if (copy.data) copy.data = { 'gateway.yaml': parse(String(copy.data['gateway.yaml'])) as unknown };
  const pod = copy.spec?.template;
  delete pod?.metadata.annotations;
  for (const container of pod?.spec.containers ?? []) {
    delete container.imagePullPolicy;
    container.env.sort((a, b) => a.name.localeCompare(b.name));
  }
  return copy;
}
