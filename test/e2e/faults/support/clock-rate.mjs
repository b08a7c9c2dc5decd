// @ts-check
/**
 * Makes the clocks of a process run at `TEST_CLOCK_RATE` times the speed of the machine's, and its wall clock `TEST_CLOCK_AHEAD_MS`
 * ahead: loaded before the gateway, so that nothing in the gateway knows of it. Timers go by the machine's clock.
 */
const rate = Number(process.env['TEST_CLOCK_RATE'] ?? 1);
const aheadMs = Number(process.env['TEST_CLOCK_AHEAD_MS'] ?? 0);
const wallMs = Date.now.bind(Date);
const monotonicMs = performance.now.bind(performance);
const [wallStart, monotonicStart] = [wallMs(), monotonicMs()];

Date.now = () => Math.floor(aheadMs + wallStart + (wallMs() - wallStart) * rate);
performance.now = () => monotonicStart + (monotonicMs() - monotonicStart) * rate;
