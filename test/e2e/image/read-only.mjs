// @ts-check

/** Where a volume for usage journals may be mounted. */
export const usageJournals = '/var/lib/tenancy-gateway/usage';

/**
 * Arguments of `unshare` that run a command in the image: nothing can be written but a volume for usage journals, as in
 * the chart, no capability is left, and the command takes the place of every program that prepared it.
 * @param {string} rootfs
 * @param {{ User: string, Env: string[], WorkingDir: string }} image
 * @param {string[]} command
 * @param {string[]} environment
 * @param {{ user?: string, journals?: string }} chosen user and group in place of the image's; folder for usage journals that
 *   outlives the command
 */
export function readOnly(rootfs, image, command, environment, { user = image.User, journals } = {}) {
  const [uid = '', gid = ''] = user.split(':');
  const prepare = [
    'mount --bind "$0" "$0"',
    'mount -o remount,bind,ro "$0"',
    'mount -t proc proc "$0/proc"',
    journals === undefined
      ? `mount -t tmpfs -o uid=${uid},gid=${gid},mode=0700 tmpfs "$0${usageJournals}"`
      : `mount --bind ${journals} "$0${usageJournals}"`,
    'exec chroot "$0" setpriv "$@"',
  ].join(' && ');
  const privileges = [
    '--reuid',
    uid,
    '--regid',
    gid,
    '--clear-groups',
    '--bounding-set=-all',
    '--no-new-privs',
  ];
  const variables = ['env', '-i', '-C', image.WorkingDir, ...image.Env, ...environment];
  return ['--mount', 'sh', '-c', prepare, rootfs, ...privileges, ...variables, ...command];
}
