/*
 * A constant-rate HTTP/1.1 load generator that does not hide stalls.
 *
 * Request number i is due at start + i / rate, whatever became of the ones before it, and its latency counts from the
 * moment it was due: a proxy that stops for 50 ms is charged with every request that should have been sent meanwhile
 * ("coordinated omission", which closed-loop tools have). Written in C because it needs timers finer than Node's and
 * Go's millisecond, and because it shares a core with the upstream: a request costs it three system calls.
 *
 *     paced [-e] [-k <file>] [-s <ms>] <port> <rate per second> <seconds> <connections> <file with the raw request>
 *
 * -e  evenly: what should have been sent while this process was stopped is not made up for at once, but takes longer. For
 *     what is only there to press on something: a burst would be this machine's, not the rate that was asked for.
 * -k  API keys, one a line, all of the same length: one after another takes the place of `{key}` in the request. The bytes 1 and 2
 *     of a line stand for CR and LF, so that a key can bring a header of its own.
 *     Connections are opened as they are needed then, not all at the beginning.
 * -s  prints a line [2xx, 503, others, broken connections] for every so many milliseconds, as they pass.
 *
 * The last line printed is a JSON object; times in microseconds. The responses must carry Content-Length.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 16384, EVENTS = 256, READ_MAX = 262144 };
static const int64_t SECOND = 1000000000, PATIENCE = 5 * SECOND;

struct connection {
  int fd, busy, status;
  size_t written;
  const char *key;
  int64_t due;
  long long body_left; /* -1 while the head is being read */
  size_t head_length;
  char head[HEAD_MAX];
};

static struct sockaddr_in target;
static char *request;
static size_t request_length;
static int poll_fd;
static struct connection *connections, **idle, **closed;
static int idle_count, closed_count;
static int64_t *latencies, *lags;
static long done_count, lag_count, error_count, broken_count, without_retry_after;
static long statuses[600];

/* What came in since the last line was printed. */
static struct { long ok, unavailable, other, broken; } slot;

/* Where the key stands in the request, and what may stand there. */
static size_t key_at, key_length;
static char *keys;
static long key_count, next_key;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * SECOND + t.tv_nsec;
}

/* Does not wait until it is there: what is written before that goes out then. */
static void open_connection(struct connection *c) {
  int on = 1;
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0 || (connect(c->fd, (struct sockaddr *)&target, sizeof target) < 0 && errno != EINPROGRESS)) die("connect");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) die("epoll_ctl");
}

/* Counts what a broken connection was doing as an error. It is opened again when it is needed. */
static void give_up(struct connection *c) {
  if (c->busy) {
    error_count++;
    broken_count++;
    slot.broken++;
  } else {
    for (int i = 0; i < idle_count; i++)
      if (idle[i] == c) idle[i] = idle[--idle_count];
  }
  close(c->fd);
  c->fd = -1;
  c->busy = 0;
  closed[closed_count++] = c;
}

static void write_on(struct connection *c) {
  if (c->key) memcpy(request + key_at, c->key, key_length);
  while (c->written < request_length) {
    ssize_t n = send(c->fd, request + c->written, request_length - c->written, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      c->written += n;
    } else if (errno == EAGAIN) {
      struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
      epoll_ctl(poll_fd, EPOLL_CTL_MOD, c->fd, &event);
      return;
    } else {
      give_up(c);
      return;
    }
  }
}

static void send_request(int64_t due, int was_waiting) {
  struct connection *c = idle_count > 0 ? idle[--idle_count] : closed[--closed_count];
  if (c->fd < 0) open_connection(c);
  c->busy = 1;
  c->due = due;
  c->written = 0;
  c->body_left = -1;
  c->head_length = 0;
  c->key = keys ? keys + (next_key++ % key_count) * (key_length + 1) : NULL;
  /* What this generator itself is late by; a wait for a free connection is the proxy's doing. */
  if (!was_waiting) lags[lag_count++] = now() - due;
  write_on(c);
}

/* Takes bytes of a response; returns 1 when the response is complete, -1 when it cannot be understood. */
static int take(struct connection *c, const char *bytes, ssize_t n) {
  if (c->body_left < 0) {
    if (c->head_length + n >= HEAD_MAX) n = HEAD_MAX - 1 - c->head_length;
    memcpy(c->head + c->head_length, bytes, n);
    c->head_length += n;
    c->head[c->head_length] = 0;
    char *end = strstr(c->head, "\r\n\r\n");
    if (!end) return c->head_length == HEAD_MAX - 1 ? -1 : 0;
    char *length = strcasestr(c->head, "\r\ncontent-length:");
    if (!length || length > end || sscanf(c->head, "HTTP/1.1 %3d", &c->status) != 1) return -1;
    char *retry = strcasestr(c->head, "\r\nretry-after:");
    if (c->status == 503 && (!retry || retry > end)) without_retry_after++;
    c->body_left = atoll(length + 17);
    n = c->head + c->head_length - (end + 4);
  }
  c->body_left -= n;
  return c->body_left == 0 ? 1 : c->body_left < 0 ? -1 : 0;
}

static void count_response(struct connection *c) {
  if (c->status > 0 && c->status < 600) statuses[c->status]++;
  if (c->status / 100 == 2) {
    latencies[done_count++] = now() - c->due;
    slot.ok++;
  } else {
    error_count++;
    if (c->status == 503) slot.unavailable++;
    else slot.other++;
  }
}

static void read_on(struct connection *c) {
  static char buffer[READ_MAX];
  /* While the head is incomplete no more than it can hold is read, so that nothing of the body is lost. */
  size_t most = c->body_left < 0 ? HEAD_MAX - 1 - c->head_length : READ_MAX;
  ssize_t n = recv(c->fd, buffer, most, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) return;
  int taken = n <= 0 || !c->busy ? -1 : take(c, buffer, n);
  if (taken < 0) give_up(c);
  if (taken <= 0) return;
  count_response(c);
  c->busy = 0;
  idle[idle_count++] = c;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double quantile(int64_t *sorted, long count, double q) {
  return count ? sorted[(long)(q * (count - 1))] / 1000.0 : 0;
}

static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) die(path);
  fseek(file, 0, SEEK_END);
  *length = ftell(file);
  rewind(file);
  char *text = malloc(*length + 1);
  if (fread(text, 1, *length, file) != *length) die(path);
  text[*length] = 0;
  fclose(file);
  return text;
}

/* Makes room in the request for keys as long as the first one. */
static void read_keys(const char *path) {
  size_t length;
  keys = contents(path, &length);
  char *place = strstr(request, "{key}");
  if (!place) die("no {key} in the request");
  key_length = strcspn(keys, "\n");
  key_count = length / (key_length + 1);
  key_at = place - request;
  for (size_t i = 0; i < length; i++) keys[i] = keys[i] == 1 ? '\r' : keys[i] == 2 && i % (key_length + 1) < key_length ? '\n' : keys[i];
  char *longer = malloc(request_length + key_length);
  memcpy(longer, request, key_at);
  memcpy(longer + key_at + key_length, place + 5, request_length - key_at - 5);
  request_length += key_length - 5;
  request = longer;
}

static void print_slot(void) {
  printf("[%ld,%ld,%ld,%ld]\n", slot.ok, slot.unavailable, slot.other, slot.broken);
  fflush(stdout);
  memset(&slot, 0, sizeof slot);
}

int main(int argc, char **argv) {
  const char *keys_file = NULL;
  int64_t slot_length = 0;
  int evenly = 0;
  for (int option; (option = getopt(argc, argv, "ek:s:")) != -1;) {
    if (option == 'e') evenly = 1;
    if (option == 'k') keys_file = optarg;
    if (option == 's') slot_length = atoll(optarg) * (SECOND / 1000);
  }
  argv += optind;
  if (argc - optind != 5) {
    fprintf(stderr, "usage: paced [-e] [-k keys file] [-s ms] <port> <rate> <seconds> <connections> <request file>\n");
    return 2;
  }
  double rate = atof(argv[1]);
  long total = rate * atof(argv[2]);
  int count = atoi(argv[3]);
  request = contents(argv[4], &request_length);
  if (keys_file) read_keys(keys_file);
  target = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[0]))};
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  poll_fd = epoll_create1(0);
  connections = calloc(count, sizeof *connections);
  idle = calloc(count, sizeof *idle);
  closed = calloc(count, sizeof *closed);
  latencies = calloc(total, sizeof *latencies);
  lags = calloc(total, sizeof *lags);
  for (int i = 0; i < count; i++) {
    /* A server may close a connection on which nothing ever came, so those that are for a storm wait for it. */
    if (keys) {
      connections[i].fd = -1;
      closed[closed_count++] = &connections[i];
    } else {
      open_connection(&connections[i]);
      idle[idle_count++] = &connections[i];
    }
  }

  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event tick = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, timer, &tick);
  int64_t period = SECOND / rate, start = now() + SECOND / 100, deadline = start + total * period + PATIENCE;
  struct itimerspec every = {.it_interval = {period / SECOND, period % SECOND},
                             .it_value = {start / SECOND, start % SECOND}};
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &every, NULL) < 0) die("timerfd_settime");

  long due = 0, sent = 0, most_at_once = evenly ? 1 + rate / 500 : total;
  int64_t slot_end = start + slot_length;
  while (done_count + error_count < total && now() < deadline) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(poll_fd, events, EVENTS, 10);
    for (; slot_length > 0 && now() >= slot_end; slot_end += slot_length) print_slot();
    int waiting = due > sent;
    for (int i = 0; i < n; i++) {
      struct connection *c = events[i].data.ptr;
      uint64_t ticks;
      if (!c) {
        if (read(timer, &ticks, sizeof ticks) != sizeof ticks) continue;
        long more = (long)ticks < most_at_once ? (long)ticks : most_at_once, late = (long)ticks - more;
        start += late * period;
        deadline += late * period;
        due = due + more > total ? total : due + more;
      } else {
        if (events[i].events & EPOLLOUT) {
          struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
          epoll_ctl(poll_fd, EPOLL_CTL_MOD, c->fd, &event);
          write_on(c);
        }
        if (c->fd >= 0 && events[i].events & ~EPOLLOUT) read_on(c);
      }
    }
    for (; sent < due && idle_count + closed_count > 0; sent++) send_request(start + sent * period, waiting);
  }

  qsort(latencies, done_count, sizeof *latencies, ascending);
  qsort(lags, lag_count, sizeof *lags, ascending);
  if (slot_length > 0) print_slot();
  printf("{\"due\":%ld,\"responses\":%ld,\"errors\":%ld,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f,\"ownLagP99\":%.1f,"
         "\"broken\":%ld,\"withoutRetryAfter\":%ld,\"statuses\":{",
         total, done_count, total - done_count, quantile(latencies, done_count, 0.5),
         quantile(latencies, done_count, 0.99), quantile(latencies, done_count, 0.999),
         quantile(latencies, done_count, 1), quantile(lags, lag_count, 0.99), broken_count, without_retry_after);
  const char *comma = "";
  for (int status = 0; status < 600; status++) {
    if (!statuses[status]) continue;
    printf("%s\"%d\":%ld", comma, status, statuses[status]);
    comma = ",";
  }
  puts("}}");
  return 0;
}
