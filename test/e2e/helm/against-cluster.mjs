#!/usr/bin/env node
// @ts-check
/* global fetch */
/**
 * `kubectl proxy & node test/e2e/helm/against-cluster.mjs [http://127.0.0.1:8001] [namespace]`: asks a real API server what
 * it would say to every manifest that the chart and the examples render, and to the pods they make. Nothing is created:
 * all of it is a dry run, in which unknown fields are errors. In a namespace that enforces the restricted Pod Security
 * Standard, that is checked, too. Give the definitions in .cache/tools/schemas to a cluster that lacks them. Without
 * `kubectl proxy`, TOKEN is sent as the bearer token.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { inProject } from '../../../scripts/lib/project.mjs';

const [server = 'http://127.0.0.1:8001', namespace = 'default'] = process.argv.slice(2);
const chart = inProject('helm/tenancy-gateway');
const cached = inProject('.cache/tools/helm');
const helm = existsSync(cached) ? cached : 'helm';

/** @typedef {{ apiVersion: string, kind: string, metadata: { name: string, labels?: object }, spec?: { [field: string]: unknown, template?: { metadata: object, spec: object } } }} Manifest */

const values = [
  ...readdirSync(`${chart}/ci`).map((name) => `${chart}/ci/${name}`),
  inProject('examples/front-gateway/values.yaml'),
];
// Rendered for the version of the cluster: Helm alone would take the one it was built with.
const version = (await call('GET', '/version')).body.gitVersion ?? '';
const rendered = values.map((file) => ({
  file,
  text: execFileSync(helm, ['template', 'gw', chart, '--kube-version', version, '--values', file], {
    encoding: 'utf8',
  }),
}));
const plain = ['examples/sidecar/shop.yaml', 'examples/front-gateway/only-the-gateway.yaml'].map((file) => ({
  file,
  text: readFileSync(inProject(file), 'utf8'),
}));

let [passed, failed] = [0, 0];
for (const { file, text } of [...rendered, ...plain]) {
  const manifests = parseAllDocuments(text).map((one) => /** @type {Manifest | null} */ (one.toJS()));
  for (const manifest of manifests.filter((one) => one !== null).flatMap(withPod)) {
    const complaint = await dryRun(manifest);
    if (complaint === '') passed += 1;
    else failed += 1;
    if (complaint !== '') console.log(`${file}: ${manifest.kind} ${manifest.metadata.name}: ${complaint}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Admission looks at pods, not at what makes them.
 * @param {Manifest} manifest
 * @returns {Manifest[]}
 */
function withPod(manifest) {
  const template = manifest.spec?.template;
  if (!template) return [manifest];
  // A priority class has to exist.
  const spec = { ...template.spec, priorityClassName: undefined };
  const metadata = { ...template.metadata, name: manifest.metadata.name };
  return [manifest, { apiVersion: 'v1', kind: 'Pod', metadata, spec }];
}

/** @param {Manifest} manifest @returns {Promise<string>} what the server does not like */
async function dryRun(manifest) {
  const group = manifest.apiVersion.includes('/') ? 'apis' : 'api';
  const discovery = await call('GET', `/${group}/${manifest.apiVersion}`);
  const resource = discovery.body.resources?.find(
    ({ kind, name }) => kind === manifest.kind && !name.includes('/'),
  );
  if (!resource) return 'the server has no such kind';
  const path = `/${group}/${manifest.apiVersion}/namespaces/${namespace}/${resource.name}`;
  const response = await call('POST', `${path}?dryRun=All&fieldValidation=Strict`, manifest);
  return response.status === 201 ? response.warning : `${response.body.message}`;
}

/** @param {string} method @param {string} path @param {object} [body] */
async function call(method, path, body) {
  const token = process.env['TOKEN'];
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(server + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  /** @type {{ message?: string, gitVersion?: string, resources?: { kind: string, name: string }[] }} */
  const content = /** @type {object} */ (await response.json().catch(() => ({})));
  return { status: response.status, warning: response.headers.get('warning') ?? '', body: content };
}
