// class: night
/** The tests of the specification, and the attacks on heads and paths, with keys in this form. */
process.env['TEST_CREDENTIAL_FORM'] = 'Bearer';
const { importTests } = await import('./import-tests.ts');
await importTests();
