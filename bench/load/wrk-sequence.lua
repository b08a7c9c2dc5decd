-- Sends requests without end, each with the next number, of twelve digits, in place of `{n}` in the acting header. Prints
-- what came of it as JSON: how many responses had each status.
local acting = os.getenv("BENCH_ACTING") or ""
local prefix = acting:match("^(.-){n}$")
local sent, threads = 0, {}
statuses = {}

function setup(thread) threads[#threads + 1] = thread end

function request()
  sent = sent + 1
  if prefix then wrk.headers["X-Service-Acting-Tenant"] = string.format("%s%012d", prefix, sent) end
  return wrk.format()
end

function response(status) statuses[status] = (statuses[status] or 0) + 1 end

function done()
  local parts = {}
  for status, count in pairs(threads[1]:get("statuses")) do parts[#parts + 1] = string.format('"%d":%d', status, count) end
  io.write("RESULT {" .. table.concat(parts, ",") .. "}\n")
end
