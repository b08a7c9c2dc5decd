// class: built
/**
 * `docs/automation.md`: the resources of its Terraform example, as `Mastercard/restapi` reads them. The requests of
 * that provider (create, read, update, destroy) are made here, since Terraform itself is not installed.
 */
import t, { type Test } from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { blocksOf, readPage } from '../../support/docs.ts';
import { startReplicas } from '../../support/replicas.ts';

const hcl = blocksOf(readPage('automation.md'), 'hcl').join('\n');

/** A block of HCL: its labels, and its attributes as text. */
interface Block {
  readonly kind: string;
  readonly name: string;
  readonly has: Readonly<Record<string, string>>;
}

function readBlocks(text: string): Block[] {
  return [...text.matchAll(/^(provider|resource) (?:"\S+" )?"(\S+)" \{\n([^]*?)^\}/gm)].map(
    ([, kind = '', name = '', body = '']) => ({
      ...{ kind, name },
      has: Object.fromEntries(
        [...body.matchAll(/^ +(\w+) += (.*)$/gm)].map(([, key = '', value = '']) => [
          key,
          value.replace(/^"(.*)"$/, '$1'),
        ]),
      ),
    }),
  );
}

/** The object in `jsonencode(…)`. */
const bodyOf = ({ has }: Block): object =>
  JSON.parse(
    (has['data'] ?? '').replace(/^jsonencode\((.*)\)$/, '$1').replaceAll(/(\w+) = /g, '"$1": '),
  ) as object;

type Send = (method: string, path: string, body?: object) => Promise<{ status: number; body: Body }>;
type Body = Readonly<Record<string, unknown>>;

/** Sends as the provider of a resource does: with its `headers`, to its `uri`, a body as JSON. */
function senderOf(
  block: Block,
  providers: readonly Block[],
  variables: Readonly<Record<string, string>>,
): Send {
  const alias = block.has['provider']?.replace('restapi.', '');
  const provider = providers.find(({ has }) => has['alias'] === alias);
  if (provider === undefined) throw new Error(`no provider for ${block.name}`);
  const { uri = '', headers = '' } = provider.has;
  const [, , token = ''] = /^\{ (\w+) = "Bearer \$\{var\.(\w+)\}" \}$/.exec(headers) ?? [];
  const authorization = `Bearer ${variables[token] ?? ''}`;
  return async (method, path, body) => {
    const response = await fetch(`${variables[uri.replace('var.', '')] ?? ''}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body };
  };
}

/** Applies, plans, applies again and destroys one resource. Returns what a read finds afterwards. */
async function lifeOf(t: Test, block: Block, send: Send) {
  const { has } = block;
  const data = bodyOf(block);
  const at = (what: string, otherwise: string, id = ''): string =>
    (has[`${what}_path`] ?? `${has['path'] ?? ''}${otherwise}`).replace('{id}', id);
  const created = await send(has['create_method'] ?? 'POST', at('create', ''), data);
  t.ok([200, 201].includes(created.status), JSON.stringify(created.body));
  const id = String(created.body[has['id_attribute'] ?? 'id']);
  t.match(created.body, data, 'the created object comes back');
  const read = () => send('GET', at('read', '/{id}', id));
  t.match(await read(), { status: 200, body: data });
  const updated = await send(has['update_method'] ?? 'PUT', at('update', '/{id}', id), data);
  t.match(updated, { status: 200, body: created.body }, 'the same object');
  const destroyed = await send(has['destroy_method'] ?? 'DELETE', at('destroy', '/{id}', id));
  t.ok([200, 204].includes(destroyed.status), JSON.stringify(destroyed.body));
  const again = async () => send(has['create_method'] ?? 'POST', at('create', ''), data);
  return { after: await read(), again };
}

t.test('the requests of the Terraform example get what a provider for REST APIs expects', async (t) => {
  const { parent, origin, internalOrigin } = await startReplicas(t);
  const variables = {
    gateway_url: origin,
    api_key: (await parent()).key,
    internal_url: internalOrigin,
    admin_token: operatorToken,
  };
  const blocks = readBlocks(hcl);
  const providers = blocks.filter(({ kind }) => kind === 'provider');
  const resources = blocks.filter(({ kind }) => kind === 'resource');
  t.same(
    resources.map(({ name }) => name),
    ['gold', 'ada'],
  );
  const [gold, ada] = resources as [Block, Block];
  const plan = await lifeOf(t, gold, senderOf(gold, providers, variables));
  t.equal(plan.after.status, 404);
  t.match(await plan.again(), { status: 201 });
  const sub = await lifeOf(t, ada, senderOf(ada, providers, variables));
  t.match(sub.after, { status: 200, body: { status: 'deactivated' } });
  t.match(await sub.again(), { status: 200, body: { status: 'deactivated' } }, 'which the page says');
});
