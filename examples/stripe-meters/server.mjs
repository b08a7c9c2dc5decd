#!/usr/bin/env node
// @ts-check
/* global AbortSignal, URLSearchParams, fetch */
/**
 * Between the gateway's export of usage and Stripe: each usage event becomes a meter event of Stripe. See README.md.
 *
 * It keeps nothing. What Stripe responds is what the gateway gets, so the gateway tries again where Stripe could not, and says which
 * events Stripe rejects.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const {
  PORT = '8090',
  HOST = '127.0.0.1',
  STRIPE_KEY_FILE = '',
  STRIPE_URL = 'https://api.stripe.com',
  EVENT_NAME = 'api_requests',
} = process.env;

/** Stripe takes no older usage. */
const oldestMs = 35 * 86_400_000;

/**
 * What Stripe is sent for a usage event; `null` where that is nothing: an hour in which there were only bytes, or an old one.
 *
 * @param {{ id: string, time: string, subject: string, data: { requests: number } }} event
 */
function meterEvent({ id, time, subject, data }) {
  if (data.requests === 0) return null;
  if (Date.now() - Date.parse(time) > oldestMs) {
    console.error(`left out, since Stripe takes nothing that is so old: ${id}, ${data.requests} requests`);
    return null;
  }
  return new URLSearchParams({
    event_name: EVENT_NAME,
    // The same whenever the event is sent, so Stripe counts it once.
    identifier: id,
    timestamp: String(Date.parse(time) / 1000),
    // `external_id` of the sub-account.
    'payload[stripe_customer_id]': subject,
    // Less than 0 where a correction takes something back.
    'payload[value]': String(data.requests),
  });
}

const server = createServer(async (request, response) => {
  try {
    const body = meterEvent(JSON.parse(await text(request)));
    if (body === null) return void response.writeHead(204).end();
    const key = readFileSync(STRIPE_KEY_FILE, 'utf8').trim();
    const headers = { Authorization: `Bearer ${key}` };
    const result = await fetch(`${STRIPE_URL}/v1/billing/meter_events`, {
      ...{ method: 'POST', headers, body, redirect: 'error' },
      signal: AbortSignal.timeout(8_000),
    });
    const said = await result.text();
    // It was sent before, and the gateway was not told so.
    if (result.status === 400 && /already exists with identifier/.test(said))
      return void response.writeHead(204).end();
    const retryAfter = result.headers.get('Retry-After');
    response.writeHead(
      result.ok ? 204 : result.status,
      retryAfter === null ? {} : { 'Retry-After': retryAfter },
    );
    response.end(result.ok ? '' : said);
  } catch (error) {
    console.error(error);
    response.writeHead(502).end();
  }
});
server.listen(Number(PORT), HOST, () => console.log(`listening on ${HOST}:${PORT}`));
process.on('SIGTERM', () => server.close());
