import { Type } from 'typebox';
import { integer, oneOf, optionalSection, text } from '../setting-types.ts';

/** The section `usage.export` of the configuration file. */
export const usageExport = optionalSection(
  'Sends usage to a billing system, hour by hour, as CloudEvents (docs/billing.md). Left out: usage is not sent anywhere.',
  {
    url: text('URL to which events are sent by POST. Redirects are not followed.', { format: 'http-url' }),
    authorization_file: Type.Optional(
      text(
        'File with the value of the header `Authorization`, such as `Bearer` and a token. It is read for each export, so a new value needs no restart.',
      ),
    ),
    format: oneOf(
      '`batch`: many events per request, `application/cloudevents-batch+json`. `single`: one event per request, `application/cloudevents+json`.',
      ['batch', 'single'],
      { default: 'batch' },
    ),
    batch_size: integer('Most events in a request.', { minimum: 1, maximum: 1_000, default: 100 }),
    timeout_ms: integer('Time the receiver has for a request.', {
      minimum: 100,
      maximum: 120_000,
      default: 10_000,
    }),
    subject: oneOf(
      'Id by which the receiver knows an account: its `id`, or its `external_id` (the `id` if it has none). An `external_id` is unique only under its parent.',
      ['id', 'external_id'],
      { default: 'id' },
    ),
    delay_s: integer(
      'Seconds from the end of an hour to its export, at least. Later counts for that hour are sent as a correction.',
      { minimum: 0, maximum: 86_400, default: 300 },
    ),
    ca_file: Type.Optional(
      text(
        'Authorities (PEM) that certify the receiver. Left out: those of the machine. Read for each export.',
      ),
    ),
  },
  {
    examples: [
      {
        url: 'https://openmeter.example.com/api/v1/events',
        authorization_file: '/etc/tenancy-gateway/openmeter',
        format: 'batch',
        batch_size: 100,
        timeout_ms: 10_000,
        subject: 'id',
        delay_s: 300,
        ca_file: '/etc/tenancy-gateway/openmeter-ca.pem',
      },
    ],
  },
);
