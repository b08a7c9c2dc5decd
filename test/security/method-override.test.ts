// class: app
import { METHODS } from 'node:http';
import t from 'tap';
import { servedMethods } from '../../src/domain/acting-decision.ts';
import { authorizationOf } from '../support/credential-forms.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a request that asks to be read as another method is rejected', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const name of [
    'X-HTTP-Method-Override',
    'x-http-method-override',
    'X-HTTP-Method',
    'X-Method-Override',
    'X_HTTP_Method_Override',
    'X.Method.Override',
  ]) {
    for (const method of ['GET', 'POST']) {
      const response = await call(method, '/v1/shipments/1', { headers: [[name, 'DELETE']] });
      t.equal(response.status, 400, name);
      t.equal(response.json().code, 'invalid_request');
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('methods beyond those of the acting rules are never forwarded', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const method of METHODS) {
    if (method === 'CONNECT' || servedMethods.includes(method)) continue;
    const response = await call(method, '/v1/shipments');
    t.equal(response.status, 405, method);
    t.equal(response.headers['allow'], servedMethods.join(', '));
  }
  t.equal(upstream.heads, 0);
});

t.test('unknown methods, and lower-case ones, end the connection', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const method of ['FROBNICATE', 'get', 'Post', 'PRI']) {
    const client = await rawClient(t, port);
    client.send(requestText(method, '/', [['Authorization', authorizationOf(parent.key)]]));
    await client.end();
    t.match(client.text, /^HTTP\/1\.1 400 /, method);
  }
  t.equal(upstream.heads, 0);
});

t.test('the first line of HTTP/2 is rejected like any other that is none of HTTP/1.1', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent, log } = await startGateway(t, { routes: { '/': upstream.url } });
  const head = `Host: gateway.test\r\nAuthorization: ${authorizationOf(parent.key)}\r\n\r\n`;
  for (const line of ['PRI /up', 'PRI * HTTP/2.0', 'PRI /up HTTP/1.1']) {
    const client = await rawClient(t, port);
    client.send(`${line}\r\n${head}`);
    await client.end();
    t.match(client.text, /^HTTP\/1\.1 4\d\d /, line);
  }
  t.equal(upstream.heads, 0);
  t.notMatch(log.text, /"level":"error"/);
});
