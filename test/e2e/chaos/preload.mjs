// @ts-check
/**
 * Loaded before the gateway: writes fault points into it, and lets the process that started it arm one of them and ask what the
 * gateway still holds.
 */
import { register } from 'node:module';

/** @type {Map<string, number>} Calls by point: bit 1 outside of timers, bit 2 in one. */
const called = new Map();
let armed = '';
let armedInTimer = false;
let inTimer = false;
let fired = false;
let trace = '';

/** @param {string} id */
const faultPoint = (id) => {
  if (armed === '') return void called.set(id, (called.get(id) ?? 0) | (inTimer ? 2 : 1));
  if (id !== armed || inTimer !== armedInTimer) return;
  armed = 'none';
  fired = true;
  const error = new Error(`thrown at ${id}`);
  trace = error.stack ?? '';
  throw error;
};
Object.assign(globalThis, { __faultPoint: faultPoint });

/** Runs what serves all exchanges at once. @template Result @param {() => Result} task @returns {Result} */
const asTimer = (task) => {
  const before = inTimer;
  inTimer = true;
  try {
    return task();
  } finally {
    inTimer = before;
  }
};

/** Timers of the gateway serve all exchanges at once. Intervals are short here, so that each comes in a run. */
const longestMs = 100;
const { setInterval: interval } = globalThis;
/** @param {(...args: any[]) => void} task @param {number} ms @param {any[]} args */
const shortInterval = (task, ms, ...args) =>
  interval(() => asTimer(() => task(...args)), Math.min(ms, longestMs));
Object.assign(globalThis, { setInterval: shortInterval });

register('./fault-points.mjs', import.meta.url);

/** Objects that hold what exchanges take. @type {Set<{ taken: number }>} */
const shares = new Set();
/** @type {Set<{ size: number }>} */
const exchanges = new Set();

/** Notes the objects whose `method` is called. @param {{ prototype: any }} Kind @param {string} method @param {Set<any>} in_ */
const note = ({ prototype }, method, in_) => {
  const original = prototype[method];
  prototype[method] = function (/** @type {any[]} */ ...args) {
    in_.add(this);
    return original.apply(this, args);
  };
};
/** A module of the gateway. @param {string} path */
const module = (path) => import(new URL(`../../../src/${path}`, import.meta.url).href);
note((await module('limits/shares.ts')).Shares, 'take', shares);
const { ActiveExchanges } = await module('proxy/active-exchanges.ts');
note(ActiveExchanges, 'enter', exchanges);
const { ClientConnection } = await module('server/client-connection.ts');

/** @param {{ prototype: any }} Kind @param {string} method */
const countAsTimer = ({ prototype }, method) => {
  const original = prototype[method];
  prototype[method] = function (/** @type {any[]} */ ...args) {
    return asTimer(() => original.apply(this, args));
  };
};
// The usage journal calls it after its own awaits, no longer inside the timer.
countAsTimer(ActiveExchanges, 'noteBytes');
// Timers of the proxy and the listener call these in the turn behind their own.
countAsTimer(ActiveExchanges, 'check');
countAsTimer(ClientConnection, 'check');

process.on('message', (/** @type {any} */ { arm, timer, reset }) => {
  const calls = [...called];
  if (reset === true) {
    called.clear();
    armed = '';
  }
  if (arm !== undefined) {
    armed = arm;
    armedInTimer = timer;
    fired = false;
    trace = '';
  }
  const awaited = armed;
  armed = 'none';
  const report = {
    fired,
    trace,
    called: reset === undefined ? [] : calls,
    taken: [...shares].reduce((sum, { taken }) => sum + taken, 0),
    exchanges: [...exchanges].reduce((sum, { size }) => sum + size, 0),
  };
  armed = awaited;
  process.send?.(report);
});
process.channel?.unref();
