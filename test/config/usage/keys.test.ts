// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../../support/config-files.ts';

t.test('from 1 to 10000 keys of an account and hour have a row of their own, 200 by default', (t) => {
  const usage = (value: string): { readonly CONFIG: string } => ({
    CONFIG: configFile(t, `usage: {keys_per_account_hour: ${value}}`),
  });
  t.equal(goodConfig().usage.keysPerAccountHour, 200);
  for (const value of [1, 10_000]) t.equal(goodConfig(usage(`${value}`)).usage.keysPerAccountHour, value);
  for (const value of ['0', '10001', '1.5', 'all'])
    t.match(faultsOf(usage(value)), [{ where: /usage\.keys_per_account_hour$/ }], value);
  t.end();
});
