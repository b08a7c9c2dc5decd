// class: pure
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../../src/config/load.ts';
import { configFile, faultsOf } from '../../support/config-files.ts';

t.test('usage is not exported unless it is said where to', (t) => {
  const loaded = loadConfig({});
  t.equal('config' in loaded && loaded.config.usage.export, null);
  const CONFIG = configFile(t, 'usage: {export: {url: "https://meter.example.com/events"}}');
  const made = loadConfig({ CONFIG });
  t.same('config' in made && made.config.usage.export, {
    url: 'https://meter.example.com/events',
    authorizationFile: null,
    format: 'batch',
    batchSize: 100,
    timeoutMs: 10_000,
    subject: 'id',
    delayMs: 300_000,
    caFile: null,
  });
  t.end();
});

t.test('the files of the export are there, and hold what they should', (t) => {
  const folder = t.testdir({ empty: '\n', two: 'Bearer a\nBearer b\n', good: 'Bearer abc\n' });
  const detailsOf = (section: string): string[] =>
    faultsOf({ CONFIG: configFile(t, `usage: {export: {${section}}}`) }).map(
      ({ where, detail }) => `${where.split(' ').at(-1) ?? ''} ${detail}`,
    );
  const url = 'url: "http://127.0.0.1/"';
  const file = (name: string): string => `${url}, authorization_file: "${join(folder, name)}"`;
  t.same(detailsOf(file('good')), []);
  t.match(detailsOf(file('none')), [/usage.export.authorization_file there is no such file/]);
  for (const name of ['empty', 'two'])
    t.match(detailsOf(file(name)), [/authorization_file the file must hold one/]);
  writeFileSync(join(folder, 'ca.pem'), 'no certificate');
  t.match(detailsOf(`${url}, ca_file: "${join(folder, 'ca.pem')}"`), [
    /usage.export.ca_file the file is not PEM/,
  ]);
  t.match(detailsOf('batch_size: 5'), [/usage.export url is missing/]);
  t.match(detailsOf('url: "http://u:p@h/"'), [/usage.export.url must be an address/]);
  t.end();
});
