/** The `SystemCallFilter=` of a systemd unit, applied without systemd: a program that sets it and then becomes another. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Compiles it.
 *
 * @param folder for the program
 * @param lines values of `SystemCallFilter=` in their order; the first allows
 * @returns its path; `PROGRAM command args…` runs a command under the filter, other calls get EPERM
 */
export function filteredRunner(folder: string, lines: readonly string[]): string {
  const groups = systemCallGroups();
  const expand = (name: string): string[] =>
    name.startsWith('@') ? (groups.get(name) ?? unknown(name)).flatMap(expand) : [name];
  let allowed: string[] = [];
  for (const line of lines) {
    const names = line.replace(/^~/, '').split(/\s+/).flatMap(expand);
    if (line.startsWith('~')) allowed = allowed.filter((name) => !names.includes(name));
    else allowed.push(...names);
  }
  // systemd always lets the command itself be run.
  const calls = [...new Set([...allowed, 'execve'])].map(
    (name) => `#ifdef __NR_${name}\n__NR_${name},\n#endif`,
  );
  writeFileSync(join(folder, 'filtered.c'), program.replace('/* calls */', calls.join('\n')));
  const file = join(folder, 'filtered');
  execFileSync('cc', ['-o', file, join(folder, 'filtered.c')]);
  return file;
}

/** The groups as this systemd knows them: `@name` to its calls and further groups. */
function systemCallGroups(): ReadonlyMap<string, string[]> {
  const text = execFileSync('systemd-analyze', ['syscall-filter', '--no-pager'], { encoding: 'utf8' });
  return new Map(
    text.split(/\n(?=@)/).map((block) => {
      const [name = '', ...calls] = block.split('\n').map((line) => line.trim());
      return [name, calls.filter((call) => /^@?\w[\w-]*$/.test(call))];
    }),
  );
}

function unknown(name: string): never {
  throw new Error(`systemd has no group ${name}`);
}

const program = `#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int calls[] = {
/* calls */
};
#define COUNT (sizeof calls / sizeof *calls)
static struct sock_filter filter[2 * COUNT + 2];

int main(int count, char **arguments) {
  (void)count;
  size_t n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < COUNT; i++) {
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  struct sock_fprog all = { .len = n, .filter = filter };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all)) {
    perror("prctl");
    return 1;
  }
  execvp(arguments[1], arguments + 1);
  perror(arguments[1]);
  return 1;
}
`;
