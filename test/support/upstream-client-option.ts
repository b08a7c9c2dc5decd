/** Which client the gateways of this run forward with: the tests of attacks and of the spec run with both. */
export const upstreamClient = process.env['TEST_UPSTREAM_CLIENT'] === 'undici' ? 'undici' : 'native';
