// class: app
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { startApis, type Parent } from '../../support/apis.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

const json = { 'Content-Type': 'application/json' };

t.test('what is not a field of the request, or not of its kind, is rejected with pointers', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const before = await parent.call('GET', '');
  const good = { name: 'x' };
  const rows: [string, string, unknown, string[]][] = [
    ['POST', '', {}, ['/name']],
    ['POST', '', { name: 5 }, ['/name']],
    ['POST', '', { name: null }, ['/name']],
    ['POST', '', { name: ['x'] }, ['/name']],
    ['POST', '', { name: { toString: 'x' } }, ['/name']],
    ['POST', '', { ...good, external_id: '' }, ['/external_id']],
    ['POST', '', { ...good, external_id: 'a b' }, ['/external_id']],
    ['POST', '', { ...good, external_id: 'x'.repeat(256) }, ['/external_id']],
    ['POST', '', { ...good, external_id: 5 }, ['/external_id']],
    ['POST', '', { ...good, metadata: [] }, ['/metadata']],
    ['POST', '', { ...good, metadata: null }, ['/metadata']],
    ['POST', '', { ...good, metadata: { a: 5 } }, ['/metadata/a']],
    ['POST', '', { ...good, metadata: { a: null } }, ['/metadata/a']],
    ['POST', '', { ...good, metadata: { 'a/b~': {} } }, ['/metadata/a~1b~0']],
    ['POST', '', { ...good, metadata: { '': 'x' } }, ['/metadata/']],
    ['POST', '', { ...good, metadata: { ['k'.repeat(41)]: 'x' } }, [`/metadata/${'k'.repeat(41)}`]],
    ['POST', '', { ...good, metadata: { a: 'x'.repeat(501) } }, ['/metadata/a']],
    [
      'POST',
      '',
      { ...good, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, 'x'])) },
      ['/metadata'],
    ],
    ['POST', '', { ...good, id: parent.id }, ['/id']],
    ['POST', '', { ...good, status: 'deactivated' }, ['/status']],
    ['POST', '', { ...good, parent_id: parent.id }, ['/parent_id']],
    ['POST', '', { ...good, Name: 'x' }, ['/Name']],
    ['POST', '', { name: 5, external_id: 5, extra: 5 }, ['/external_id', '/extra', '/name']],
    ['POST', '', [], ['']],
    ['POST', '', null, ['']],
    ['POST', '', true, ['']],
    ['PATCH', `/${id}`, { created_at: '2020-01-01T00:00:00Z' }, ['/created_at']],
    ['PATCH', `/${id}`, { name: null }, ['/name']],
    ['PATCH', `/${id}`, { external_id: '' }, ['/external_id']],
    ['PATCH', `/${id}`, { metadata: null }, ['/metadata']],
    ['PUT', '/by-external-id/x', {}, ['/name']],
    ['PUT', '/by-external-id/x', { ...good, external_id: 'y' }, ['/external_id']],
    ['PUT', '/by-external-id/x', { ...good, status: 'active' }, ['/status']],
    ['POST', `/${id}/api-keys`, {}, ['/name']],
    ['POST', `/${id}/api-keys`, { name: 'k', api_key: 'tgw_mine' }, ['/api_key']],
  ];
  for (const [method, path, body, pointers] of rows) {
    const payload = body === null || body === true ? { body: String(body), headers: json } : { body };
    const response = await parent.call(method, path, payload);
    const name = JSON.stringify(body).slice(0, 60);
    t.match(response, { status: 400, body: { code: 'invalid_request' } }, name);
    const errors = (response.body['errors'] ?? []) as { pointer: string; detail: string }[];
    t.same(errors.map(({ pointer }) => pointer).sort(), pointers, name);
    t.ok(
      errors.every(({ detail }) => /[.?]$/.test(detail)),
      name,
    );
  }
  t.same((await parent.call('GET', '')).body, before.body, 'and nothing was made');
});

t.test('bytes that two readers could understand differently are rejected', async (t) => {
  const parent = await apis.parent();
  const send = (body: string | Buffer, headers: Record<string, string> = json) =>
    parent.call('POST', '', { body, headers });
  const rows: [string, string | Buffer][] = [
    ['nothing', ''],
    ['a repeated member, spelled otherwise', '{"name":"x","n\\u0061me":"y"}'],
    ['__proto__', '{"name":"x","__proto__":{"external_id":"y"}}'],
    ['a byte order mark', '\ufeff{"name":"x"}'],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])],
    ['overlong UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xc0, 0xaf, ...Buffer.from('"}')])],
    [
      'a surrogate in UTF-8',
      Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    ],
    ['60,000 unknown members', `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":0`).join()}}`],
  ];
  for (const [name, body] of rows) {
    const response = await send(body);
    t.match(response, { status: 400, body: { code: 'invalid_request', errors: [{ pointer: /^/ }] } }, name);
    t.ok(response.text.length < 10_000, `${name}: the response is short`);
  }
  t.match((await send('{')).body, { detail: 'The body is not JSON.' });
  t.match((await parent.call('GET', '')).body, { data: [] });
  const plain: Record<string, unknown> = {};
  t.equal(plain['external_id'], undefined);
});

t.test('the content type must say JSON in UTF-8, and the body must not be encoded', async (t) => {
  const parent = await apis.parent();
  const body = '{"name":"x"}';
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ]) {
    t.equal((await parent.call('POST', '', { body, headers: { 'Content-Type': type } })).status, 201, type);
  }
  const rejected: (readonly (readonly [string, string])[])[] = [
    [],
    ...[
      '',
      'json',
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=iso-8859-1',
      'application/json; charset=utf-16',
      'application/jsonx',
      'application/json, text/plain',
      'application/merge-patch+json',
      'application/problem+json',
    ].map((type) => [['Content-Type', type] as const]),
    [
      ['Content-Type', 'application/json'],
      ['Content-Type', 'application/json'],
    ],
    ...['gzip', 'br', 'x', 'identity, gzip'].map((coding) => [
      ['Content-Type', 'application/json'] as const,
      ['Content-Encoding', coding] as const,
    ]),
  ];
  for (const headers of rejected) {
    const response = await parent.call('POST', '', { body, headers });
    t.match(response, { status: 415, body: { code: 'unsupported_media_type' } }, JSON.stringify(headers));
  }
});

t.test('a body that is too long is rejected before it has been read', async (t) => {
  const apis = await startApis(t, { limits: { managementBodyBytes: 1000 } });
  const parent = await apis.parent();
  const fits = JSON.stringify({ name: 'x' }).padEnd(1000);
  t.equal((await parent.call('POST', '', { body: fits, headers: json })).status, 201);
  t.match(await parent.call('POST', '', { body: `${fits} `, headers: json }), {
    status: 413,
    body: { code: 'payload_too_large' },
  });
  const announced = await raw(apis.origin, parent, 'Content-Length: 1000000000', '');
  t.match(announced, /^HTTP\/1\.1 413 [^]*payload_too_large/);
  const streamed = await raw(
    apis.origin,
    parent,
    'Transfer-Encoding: chunked',
    `3e9\r\n${'x'.repeat(1001)}\r\n`,
  );
  t.match(streamed, /^HTTP\/1\.1 413 [^]*payload_too_large/);
});

t.test('actions take no body: absent, empty or {}, whatever the content type says', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const { body: minted } = await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'k' } });
  const actions = [
    `/${child.id}/deactivate`,
    `/${child.id}/reactivate`,
    `/${child.id}/api-keys/${String(minted['id'])}/revoke`,
    `/${child.id}/api-keys/revoke-all`,
  ];
  const types = [
    undefined,
    'application/json',
    'text/plain',
    'nonsense',
    'application/x-www-form-urlencoded',
    '',
  ];
  for (const path of actions) {
    for (const type of types) {
      for (const body of [undefined, '', '{}', ' { } \n']) {
        const headers = type === undefined ? {} : { 'Content-Type': type };
        const response = await parent.call('POST', path, { headers, ...(body !== undefined && { body }) });
        t.equal(response.status, 200, `${path} ${String(type)} ${JSON.stringify(body)}`);
      }
    }
    for (const body of ['{"a":1}', '[]', 'null', 'x', '{}{}', '""']) {
      t.match(
        await parent.call('POST', path, { headers: json, body }),
        { status: 400, body: { code: 'invalid_request' } },
        body,
      );
    }
    t.match(
      await raw(apis.origin, parent, 'Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n', path),
      /^HTTP\/1\.1 200 /,
    );
    t.match(
      await raw(apis.origin, parent, 'Transfer-Encoding: chunked', '0\r\n\r\n', path),
      /^HTTP\/1\.1 200 /,
    );
    t.match(await raw(apis.origin, parent, 'X-No: framing', '', path), /^HTTP\/1\.1 200 /);
  }
});

/** A request as bytes; resolves with the whole response once the server has closed the connection. */
async function raw(
  origin: string,
  parent: Parent,
  framing: string,
  body: string,
  path = '',
): Promise<string> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write(
    `POST /v1/sub-accounts${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${parent.key}\r\n` +
      `Content-Type: application/json\r\n${framing}\r\n\r\n${body}`,
  );
  return text(socket);
}
