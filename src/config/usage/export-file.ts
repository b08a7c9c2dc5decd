import { Type } from 'typebox';
import { integer, oneOf, optionalSection, text } from '../keys.ts';

/** The part of the file about the export of usage. */
export const usageExport = optionalSection(
  'Sends usage to a billing system, hour by hour, as CloudEvents (docs/billing.md). Left out: it is not sent anywhere.',
  {
    url: text('Where events are sent by POST. Redirects are not followed.', { format: 'http-url' }),
    authorization_file: Type.Optional(
      text(
        'File with the value of the header `Authorization`, such as `Bearer` and a token. It is read anew for each export, so a new one counts without a restart.',
      ),
    ),
    format: oneOf(
      '`batch`: many events in a request, `application/cloudevents-batch+json`. `single`: a request for each, `application/cloudevents+json`.',
      ['batch', 'single'],
      { default: 'batch' },
    ),
    batch_size: integer('Events in a request at most.', { minimum: 1, maximum: 1_000, default: 100 }),
    timeout_ms: integer('Time the receiver has for a request.', {
      minimum: 100,
      maximum: 120_000,
      default: 10_000,
    }),
    subject: oneOf(
      'What the receiver knows an account by: its `id`, or its `external_id` (the id where it has none). An `external_id` is unique under its parent only.',
      ['id', 'external_id'],
      { default: 'id' },
    ),
    delay_s: integer(
      'How long after its end an hour is exported, at the earliest. What comes to it later is sent as a correction.',
      { minimum: 0, maximum: 86_400, default: 300 },
    ),
    ca_file: Type.Optional(
      text(
        'Authorities (PEM) that certify the receiver. Left out: those of the machine. Read anew for each export.',
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
