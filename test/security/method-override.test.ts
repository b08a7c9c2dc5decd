// class: app
import { METHODS } from 'node:http';
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { servedMethods } from '../../src/domain/acting-decision.ts';

t.test('a request that asks to be read as another method is rejected', async (t) => {
  const { upstream, call } = await startProxied(t);
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
      t.match(response, { status: 400, code: 'invalid_request' }, name);
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('methods beyond those of the acting rules are never forwarded', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const method of METHODS) {
    if (method === 'CONNECT' || servedMethods.includes(method)) continue;
    const response = await call(method, '/v1/shipments');
    t.equal(response.status, 405, method);
    t.equal(response.headers['allow'], servedMethods.join(', '));
  }
  t.equal(upstream.heads, 0);
});

t.test('unknown and lower-case methods, and the first line of HTTP/2, end the connection', async (t) => {
  const { upstream, log, dial, requestOf } = await startProxied(t);
  const head = requestOf('GET', '/').replace(/^.*\r\n/, '');
  for (const line of [
    'FROBNICATE / HTTP/1.1',
    'get / HTTP/1.1',
    'PRI /up',
    'PRI * HTTP/2.0',
    'PRI /up HTTP/1.1',
  ]) {
    const client = await dial(`${line}\r\n${head}`);
    await client.end();
    t.match(client.text, /^HTTP\/1\.1 4\d\d /, line);
  }
  t.equal(upstream.heads, 0);
  t.notMatch(log.text, /"level":"error"/);
});
