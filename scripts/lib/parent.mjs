// @ts-check

const LOOK_EVERY_MS = 500;

/**
 * Ends this process, in the orderly way, when the npm that runs it is gone: npm cannot forward a SIGKILL, and what it
 * leaves behind would go on holding its ports.
 */
export function endWithNpm() {
  if (!process.env['npm_lifecycle_event']) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_EVERY_MS);
  timer.unref();
}
